# First of the objects in init/, whose text comes ahead of nearly all the rest.
/^obj-y .*:= main\.o/ {
	i fixture-$(CONFIG_FIXTURE_DEAD_FUNCTION) := dead_function.o
	s/:= /:= $(fixture-y) /
}
