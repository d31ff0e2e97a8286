"""Ground floor: the kernel decorator, array policy, enumerations, errors. Imports nothing of ours."""
