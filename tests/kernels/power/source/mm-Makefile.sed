# First of the objects in mm/.
/^obj-y.*:= filemap\.o/s/:= /:= power_layout_middle.o /
