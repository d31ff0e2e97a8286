"""Files in and out: URDF and MJCF descriptions, meshes."""
