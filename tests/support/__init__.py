"""What several folders of tests need: running a program on torch, and running gradtrail over one."""
