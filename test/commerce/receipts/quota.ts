import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aBill, send, sent } from './service.ts'

const MIB = 1_048_576
const small = await startTestService({ env: { FILES_QUOTA_MIB: '1' } })

/** A unique bill of this size; its pictures are always the same, and are stored once. */
async function aLongBill(bytes: number): Promise<Buffer> {
  const bill = await aBill('25.00', { date: '2026-11-20' })
  const rest = bytes - bill.length - 2
  return Buffer.concat([bill, Buffer.from(`%${randomBytes(rest).toString('hex').slice(0, rest)}\n`)])
}

/** On a busy machine an upload may wait too long for its turn. */
async function sentPatiently(client: TestClient, file: Buffer): ReturnType<typeof send> {
  for (;;) {
    const answer = await send(client, file)
    if (answer.status !== 429) return answer
  }
}

const room = (client: TestClient) => bodyOf(client.receipts.storage())

describe('the room for the files of an owner', () => {
  test('is taken by as many as fit of those that come at once, and a deleted one gives its room back', async () => {
    const { client, ownerId } = await small.owner()
    expect(await room(client)).toEqual({ files: 0, usedBytes: 0, freeBytes: MIB, quotaBytes: MIB })
    const bills = await Promise.all(Array.from({ length: 8 }, () => aLongBill(200_000)))
    const answers = await times(8, n => sentPatiently(client, bills[n] as Buffer))
    expect(statusCounts(answers)).toEqual({ 201: 5, 400: 3 })
    const refused = answers.find(({ status }) => status === 400)
    expect(refused).toMatchObject({ code: 'storage_full' })
    expect((refused?.body as { error?: string } | undefined)?.error).toMatch(
      /\d+\.\d KiB of 1\.0 MiB are used, \d+\.\d KiB are free, and this upload needs \d+\.\d KiB/,
    )
    const full = await room(client)
    expect(full.files).toBe(7)
    expect(full.usedBytes + full.freeBytes).toBe(MIB)
    const rows = await small.sql<{ count: number; bytes: number }>(
      `select count(*)::int, sum(bytes)::int as bytes
       from (select distinct sha256, bytes from stored_files where owner_id = $1) one`,
      [ownerId],
    )
    expect(rows).toEqual([{ count: 7, bytes: full.usedBytes }])
    const { data } = await bodyOf(client.receipts.list({ query: {} }))
    expect(data).toHaveLength(5)
    await bodyOf(client.receipts.delete({ params: { id: String(data[0]?.id) } }))
    expect(await room(client)).toMatchObject({ files: 6, usedBytes: full.usedBytes - 200_000 })
    await sent(client, await aLongBill(200_000))
    expect(await room(client)).toEqual(full)
  })

  test('counts equal files once, as long as one record uses them, and is that of one owner alone', async () => {
    const [one, other] = [await small.owner(), await small.owner()]
    const bill = await aLongBill(400_000)
    const answers = await times(4, () => send(one.client, bill))
    expect(statusCounts(answers)).toEqual({ 201: 4 })
    const { data } = await bodyOf(one.client.receipts.list({ query: {} }))
    const before = await room(one.client)
    expect(before.files).toBe(3)
    expect(await room(other.client)).toMatchObject({ files: 0, usedBytes: 0 })
    const [first, ...rest] = data.map(({ id }) => ({ id }))
    await Promise.all(rest.map(params => bodyOf(one.client.receipts.delete({ params }))))
    expect(await room(one.client)).toEqual(before)
    await bodyOf(one.client.receipts.delete({ params: { id: String(first?.id) } }))
    expect(await room(one.client)).toMatchObject({ files: 0, usedBytes: 0 })
  })

  test('is taken by evidence, too, of which nothing is kept once it is full', async () => {
    const { client } = await small.owner()
    const { id: agentId } = await anAgentUnder(client, {})
    const { id: intentId } = await anIntent(client, agentId, { amountEuros: 1 })
    const bring = (file: Buffer) =>
      client.evidence.create({ body: { intentId, type: 'invoice', file: file.toString('base64') } })
    await bodyOf(bring(await aLongBill(900_000)))
    const before = await room(client)
    expect(await bring(await aLongBill(200_000))).toMatchObject({ status: 400, code: 'storage_full' })
    expect(await room(client)).toEqual(before)
    expect((await bodyOf(client.evidence.list({ query: { intentId } }))).data).toHaveLength(1)
  })
})
