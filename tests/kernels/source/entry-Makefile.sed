# Next to the object that calls it.
/^obj-y.*+= common\.o/s/$/ pathmeter_fixture.o/
