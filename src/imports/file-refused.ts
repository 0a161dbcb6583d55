/** The file as a whole cannot be imported; the message says why, `whatToDo` what helps. Nothing was stored. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused'
  readonly whatToDo: string

  constructor(message: string, whatToDo: string, options?: ErrorOptions) {
    super(message, options)
    this.whatToDo = whatToDo
  }
}
