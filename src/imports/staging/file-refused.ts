/** The file as a whole cannot be imported. The message says why, `whatToDo` says how to correct it. Nothing was stored. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused'
  readonly whatToDo: string

  constructor(message: string, whatToDo: string, options?: ErrorOptions) {
    super(message, options)
    this.whatToDo = whatToDo
  }
}
