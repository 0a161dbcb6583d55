/** No import has that number. Exit code 2. */
export class ImportNotFound extends Error {
  override readonly name = 'ImportNotFound'
  constructor(id: bigint) {
    super(`there is no import ${id}; \`ferry imports list\` shows them`)
  }
}

/** The import is in no state for what was asked; the message says its state, and what can be done. */
export class ImportRefuses extends Error {
  override readonly name = 'ImportRefuses'
}
