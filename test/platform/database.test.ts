import { expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { sqlOn } from '../../src/kernel/database/prepared-sql.ts'
import { socketOf } from '../../src/platform/bundled-writes.ts'
import { startEngine } from '../support/engine.ts'

const { pool } = (await startEngine(areas)).runtime.database

test('statements that need no result of each other are sent as one packet', async () => {
  const client = await pool.connect()
  const socket = socketOf(client)
  const send = socket._writev?.bind(socket)
  let packets = 0
  socket._writev = (...pieces) => {
    packets++
    send?.(...pieces)
  }
  const sql = sqlOn(client)
  await Promise.all([
    client.query('begin'),
    sql('select $1::int', [1]),
    sql('select 2'),
    client.query('commit'),
  ])
  client.release(true)
  expect(packets).toBe(1)
})
