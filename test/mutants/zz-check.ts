import { applyMutant, readTables } from './table.ts'

const all = readTables()
const mine = all.filter(m => m.name.startsWith('zz-b/'))
for (const m of mine) {
  const a = applyMutant('/tmp/w/m2', m)
  if ('stale' in a) {
    console.log(m.name, a.stale)
    continue
  }
  const same = all.filter(
    o =>
      !o.name.startsWith('zz-b/') &&
      JSON.stringify(o.target) === JSON.stringify(m.target) &&
      (o.find.replace(/\s+/g, ' ').includes(m.find.replace(/\s+/g, ' ')) ||
        m.find.replace(/\s+/g, ' ').includes(o.find.replace(/\s+/g, ' '))),
  )
  for (const o of same)
    console.log(m.name, 'near', o.name, o.find.slice(0, 80), '=>', o.replacement.slice(0, 60))
}
console.log(mine.length)
