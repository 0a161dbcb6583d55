/*
 * Loaded into a command before anything else, this presses Ctrl-C just as it writes a line with `FERRY_TEST_INTERRUPT_AT` to
 * stdout.
 */
const words = process.env.FERRY_TEST_INTERRUPT_AT ?? ''
const write = process.stdout.write.bind(process.stdout)

process.stdout.write = ((text: string, ...more: []) => {
  if (text.includes(words)) process.emit('SIGINT')
  return write(text, ...more)
}) as typeof process.stdout.write
