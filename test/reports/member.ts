import { randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'

type Place = { readonly url: string; readonly pool: Pool }

/** Makes a role with a login that is a member of `ferry_reader`. Returns the address for it. `opened` drops it. */
export async function createMember(opened: AsyncDisposableStack, { url, pool }: Place): Promise<string> {
  const role = `member_${randomBytes(4).toString('hex')}`
  await pool.query(`create role ${role} login password 'x' in role ferry_reader`)
  opened.defer(async () => {
    await pool.query(`drop role ${role}`)
  })
  return Object.assign(new URL(url), { username: role, password: 'x' }).href
}

/** A client that is connected as such a role. `opened` ends it first. */
export async function connectMember(opened: AsyncDisposableStack, place: Place): Promise<Client> {
  const member = new Client({ connectionString: await createMember(opened, place) })
  await member.connect()
  opened.defer(() => member.end())
  return member
}
