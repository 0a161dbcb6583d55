/** The programs of Postgres are not installed, or cannot run. */
export class PostgresBinariesMissing extends Error {
  override readonly name = 'PostgresBinariesMissing'
  readonly whatToDo: string
  constructor(message: string, { whatToDo, cause }: { whatToDo: string; cause?: unknown }) {
    super(message, { cause })
    this.whatToDo = `${whatToDo} Or set DATABASE_URL to a Postgres of your own; then this package is not needed.`
  }
}

/** The embedded Postgres cannot be used. The message ends with the last lines that it wrote, if any. */
export class PostgresNotRunning extends Error {
  override readonly name = 'PostgresNotRunning'
  readonly whatToDo: string
  constructor(
    message: string,
    { whatToDo, lastLines = '', cause }: { whatToDo: string; lastLines?: string; cause?: unknown },
  ) {
    super(lastLines ? `${message} Its last lines:\n${lastLines}` : message, { cause })
    this.whatToDo = whatToDo
  }
}

/** Another major version of Postgres made the files, and only that one can read them. */
export class PostgresOfOtherMajor extends Error {
  override readonly name = 'PostgresOfOtherMajor'
  readonly whatToDo =
    'Stop every Ferry that uses it and run `ferry embedded upgrade`: it dumps the data with the programs of the other version, ' +
    'which must be on this machine, and loads it with those of this Ferry. Or run the Ferry that made it.'
  constructor(home: string, found: number, ours: number) {
    super(
      `The database in ${home} was made by Postgres ${found}, and this Ferry brings Postgres ${ours} along. It was left as it is.`,
    )
  }
}

/** The data directory has no Postgres, and the command may not create one. */
export class NoPostgresYet extends Error {
  override readonly name = 'NoPostgresYet'
  readonly whatToDo =
    '`ferry migrate` creates it, and so does `ferry up` or the first `ferry sync`. If it should exist already, set ' +
    'FERRY_DATA_DIR to its directory, or DATABASE_URL to a Postgres of your own.'
  constructor(dataDir: string) {
    super(`${dataDir} does not contain a database yet. Nothing was read or written.`)
  }
}

/** The directory for Ferry's files cannot be used. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable'
  readonly whatToDo =
    'Run Ferry as the user who owns this directory, or set FERRY_DATA_DIR to one that this user can create and write to.'
}
