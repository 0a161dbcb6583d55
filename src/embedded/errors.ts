/** The binaries of Postgres are not installed, or cannot run. `whatToDo` says how to go on. */
export class PostgresBinariesMissing extends Error {
  override readonly name = 'PostgresBinariesMissing'
  readonly whatToDo: string
  constructor(message: string, { whatToDo, cause }: { whatToDo: string; cause?: unknown }) {
    super(message, { cause })
    this.whatToDo = `${whatToDo} Or set DATABASE_URL to a Postgres of your own: then none is needed here.`
  }
}

/** The embedded Postgres is not there to be used. The message ends with the last lines it wrote, if any. */
export class PostgresNotRunning extends Error {
  override readonly name = 'PostgresNotRunning'
  readonly whatToDo: string
  constructor(
    message: string,
    { whatToDo, said = '', cause }: { whatToDo: string; said?: string; cause?: unknown },
  ) {
    super(said ? `${message} It said last:\n${said}` : message, { cause })
    this.whatToDo = whatToDo
  }
}

/** There is no Postgres in the data directory, and what was asked for makes none. */
export class NoPostgresYet extends Error {
  override readonly name = 'NoPostgresYet'
  readonly whatToDo =
    '`ferry migrate` makes it, and so does `ferry up` or the first `ferry sync`. If there should be one already, set ' +
    'FERRY_DATA_DIR to its directory, or DATABASE_URL to a Postgres of your own.'
  constructor(dataDir: string) {
    super(`There is no database in ${dataDir} yet; nothing was read or written.`)
  }
}

/** The directory for Ferry's files cannot be used. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable'
  readonly whatToDo =
    'Run Ferry as the user this directory belongs to, or set FERRY_DATA_DIR to one that this user may make and write to.'
}
