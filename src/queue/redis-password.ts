import type { RedisOptions } from 'ioredis'
import { StandaloneConnector } from 'ioredis/built/connectors/index.js'
import type { Secret } from '#src/model/secret.ts'

/**
 * Options with which each attempt to connect to Redis has the password of that moment; none if `password` is null.
 *
 * ioredis takes the password from its own copy of the options whenever it connects. It hands that copy to its connector, before
 * the first attempt.
 */
export function withPassword(password: Secret | null): Pick<RedisOptions, 'Connector'> {
  if (password === null) return {}
  const ask = () => password.reveal()
  class Connector extends StandaloneConnector {
    constructor(options: ConstructorParameters<typeof StandaloneConnector>[0]) {
      super(options)
      Object.defineProperty(options, 'password', { get: ask, enumerable: true })
    }
  }
  return { Connector: Connector as NonNullable<RedisOptions['Connector']> }
}
