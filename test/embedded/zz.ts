import { pino } from 'pino'
import { Client } from 'pg'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
let started=0, worst=0
for (let i=0;i<20;i++) {
  const t=performance.now()
  const p = await openEmbeddedPostgres({dataDir: process.argv[2]!, log: pino({level:'warn'})})
  started+=Number(p.startedHere)
  await new Promise(r=>setTimeout(r,Math.random()*60))
  const c=new Client({connectionString:p.url}); await c.connect(); await c.query('select 1'); await new Promise(r=>setTimeout(r,Math.random()*60)); await c.query('select 1'); await c.end()
  await p.close(); worst=Math.max(worst,performance.now()-t)
}
console.log('ok', started, Math.round(worst))
