"""What everything runs on: double precision, compilation, devices, and how errors are worded."""
