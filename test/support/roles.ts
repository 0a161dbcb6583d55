/** Drops a role that this user has made, with the rights that it has in this database. */
export async function dropRole(
  { query }: { query(statement: string): Promise<unknown> },
  role: string,
): Promise<void> {
  // Whoever has made a role may grant it, and does not have its rights yet.
  await query(`grant ${role} to current_user`)
  await query(`drop owned by ${role}`)
  await query(`drop role ${role}`)
}
