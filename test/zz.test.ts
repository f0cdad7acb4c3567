import { expect, test } from '@jest/globals'
import { areas } from '../src/areas.ts'
import { startHouse } from './support/harness.ts'
import { POT_TABLES, potsArea } from './support/pots.ts'
const house = await startHouse({ areas: { ...areas, pots: potsArea(async () => 'x') }, tables: POT_TABLES })
test('x', async () => {
  const owner = await house.owner()
  await house.sql(`insert into pots values ('pot_1', $1, 'test', 50)`, [owner.ownerId])
  const r = await Promise.all(Array.from({ length: 100 }, () => owner.client.pots.take({ params: { id: 'pot_1' }, body: { amount: 1 } })))
  console.log(r.map(x => x.status).join())
  console.log(r[0], r[99])
})
