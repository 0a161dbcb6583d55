import { pick, type Random } from './random.ts'

export type Person = { readonly id: bigint; readonly name: string }

const NAMES = [
  'Amara Okafor',
  'Anna Lindqvist',
  'Diego Fernández',
  'Elif Yılmaz',
  'Hiro Tanaka',
  'Ingrid Bakke',
  'Jonas Weber',
  'Lucía Romero',
  'Mateusz Nowak',
  'Mei Chen',
  'Noor Haddad',
  'Priya Raman',
  'Sam Whitfield',
  'Siobhán Byrne',
  'Tomás Silva',
  '王伟',
] as const

/** A person who edits rules and servers. */
export function person(random: Random): Person {
  const name = pick(random, NAMES)
  return { id: 2_476_444_212_100n + BigInt(NAMES.indexOf(name)) * 31n, name }
}
