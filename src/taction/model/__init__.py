"""What a robot is: the description the user wrote (`ModelSpec`) and its compiled form (`Model`)."""
