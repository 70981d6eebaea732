/** The same object, without opening all three standard streams for it, as importing the module does. */
// oxlint-disable-next-line import/no-default-export -- as the module has it
export default process;
