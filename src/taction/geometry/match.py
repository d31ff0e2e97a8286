"""tmp"""
from taction._core.jit import kernel


@kernel
def match_contacts(old_count, old_key, old_impulse, contacts, warm_out):
    """tmp"""
    j = 0
    for i in range(contacts.count[0]):
        a, b, f = contacts.shape[i, 0], contacts.shape[i, 1], contacts.feature[i]
        while j < old_count and (old_key[j, 0] < a or (old_key[j, 0] == a and (old_key[j, 1] < b or (old_key[j, 1] == b and old_key[j, 2] < f)))):
            j += 1
        hit = j < old_count and old_key[j, 0] == a and old_key[j, 1] == b and old_key[j, 2] == f
        for c in range(3):
            warm_out[i, c] = old_impulse[j, c] if hit else 0.0
