import { hash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { anAgentClient } from '../../support/cards/reveal.ts'
import { anAgent, aToken, bodyOf } from '../../support/factories.ts'
import { traceOf } from '../../support/trace.ts'
import { aBill, aPayer, aPayment, aPdf, aPhoto, save, send, sent, service, thumbnail } from './service.ts'

const filesOf = (ownerId: string): string[] => {
  const folder = join(service.filesDir, ownerId, 'test')
  return readdirSync(folder).map(name => join(folder, name))
}

describe('a receipt', () => {
  test('a receipt is stored unchanged for the named payment, and emits an event', async () => {
    const { agentClient, key, client, agent, intentId, transactionId } = await aPayer()
    const photo = await aPhoto().jpeg().toBuffer()
    const answer = await send(agentClient, photo, { transactionId })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        agentId: agent.id,
        transactionId,
        intentId,
        status: 'matched',
        matchedBy: 'caller',
        facts: null,
        mediaType: 'image/jpeg',
        bytes: photo.length,
        sha256: hash('sha256', photo, 'hex'),
        pages: null,
        notes: [],
        isPlain: false,
      },
    })
    expect((await traceOf(service, answer))?.events).toEqual(['receipt.updated'])
    const { id, receivedAt, sha256 } = answer.body
    const { data } = await bodyOf(client.audit.list({ query: { resource: id } }))
    expect(data).toMatchObject([{ event: 'receipt.updated', sha256, receivedAt }])
    const original = await save(key, `/receipts/${id}/file`)
    expect(Object.fromEntries(original.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-disposition': `attachment; filename="${id}.jpg"`,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    })
    expect(Buffer.from(await original.arrayBuffer())).toEqual(photo)
    expect((await bodyOf(client.intents.get({ params: { id: intentId } }))).receiptStatus).toBe('matched')
  })

  test('comes as a form, too', async () => {
    const { key, transactionId } = await aPayer()
    const form = new FormData()
    form.set('transactionId', transactionId)
    form.set(
      'file',
      new File([new Uint8Array(await aPhoto().webp().toBuffer())], 'lunch.webp', { type: 'image/webp' }),
    )
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${service.url}/receipts`, { method: 'POST', headers, body: form })
    expect([answer.status, await answer.json()]).toMatchObject([
      201,
      { transactionId, fileName: 'lunch.webp', mediaType: 'image/webp' },
    ])
  })

  test('is shown upright, small and without metadata', async () => {
    const { agentClient, key } = await aPayer()
    const lying = await aPhoto(4_000, 1_000)
      .withExif({ IFD0: { Copyright: 'Ada Lovelace was here' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const { id } = await sent(agentClient, lying)
    for (const [size, width, height] of [
      [320, 80, 320],
      [1200, 300, 1_200],
    ] as const) {
      const { answer, bytes, seen } = await thumbnail(key, id, size)
      expect(answer.headers.get('content-type')).toBe('image/webp')
      expect(answer.headers.get('content-security-policy')).toContain('sandbox')
      expect(seen).toMatchObject({ format: 'webp', width, height })
      expect([seen.exif, seen.icc, seen.orientation]).toEqual([undefined, undefined, undefined])
      expect(bytes.includes('Ada')).toBe(false)
    }
    expect((await save(key, `/receipts/${id}/thumbnail?size=77`)).status).toBe(400)
  })

  test('that is a PDF is shown by its first page', async () => {
    const { agentClient, key } = await aPayer()
    const { id, pages, isPlain } = await sent(agentClient, await aBill('25.00'))
    expect([pages, isPlain]).toEqual([1, false])
    const { seen } = await thumbnail(key, id, 1200)
    // A6 portrait, with content.
    expect(seen.height).toBe(1_200)
    expect((seen.width ?? 0) / 1_200).toBeCloseTo(298 / 420, 1)
  })

  test('is listed by payment, agent and status, and those of no payment', async () => {
    const { client, agentClient, agent, transactionId } = await aPayer()
    const photo = await aPhoto(10, 10).png().toBuffer()
    const matched = await sent(agentClient, photo, { transactionId })
    const unread = await sent(client, photo)
    const list = async (query: object) =>
      (await bodyOf(client.receipts.list({ query }))).data.map(({ id }) => id)
    expect(await list({})).toEqual([unread.id, matched.id])
    expect(await list({ transactionId })).toEqual([matched.id])
    expect(await list({ matched: 'false' })).toEqual([unread.id])
    expect(await list({ status: 'unread' })).toEqual([unread.id])
    expect(await list({ agentId: agent.id })).toEqual([matched.id])
    expect(await list({ from: '2100-01-01T00:00:00Z' })).toEqual([])
  })

  test('that is missing is a payment in a list, by agent, until one comes', async () => {
    const { client, agentClient, agent, transactionId } = await aPayer()
    const other = await anAgent(client)
    const missing = async (agentId: string) =>
      (await bodyOf(client.receipts.missing({ query: { agentId } }))).data
    expect(await missing(agent.id)).toMatchObject([
      { id: transactionId, agentId: agent.id, amountEuros: 25, merchant: 'Bookshop', type: 'transfer' },
    ])
    expect(await missing(other.id)).toEqual([])
    const { id } = await sent(agentClient, await aPhoto(9, 9).png().toBuffer(), { transactionId })
    expect(await missing(agent.id)).toEqual([])
    await client.receipts.delete({ params: { id } })
    expect(await missing(agent.id)).toHaveLength(1)
    expect((await bodyOf(client.receipts.missing({ query: { to: '2020-01-01T00:00:00Z' } }))).data).toEqual(
      [],
    )
  })

  test('can be given to another payment and taken away, and its intents show it', async () => {
    const { client, agent, transactionId, intentId } = await aPayer()
    const second = await aPayment(client, agent.id, 30)
    const { id } = await sent(client, await aBill('25.00'), { transactionId })
    const statusOf = async (intent: string) =>
      (await bodyOf(client.intents.get({ params: { id: intent } }))).receiptStatus
    const body = { transactionId: second.transactionId }
    expect(await bodyOf(client.receipts.update({ params: { id }, body }))).toMatchObject({
      transactionId: second.transactionId,
      intentId: second.intentId,
      status: 'mismatch',
      matchedBy: 'caller',
    })
    expect([await statusOf(intentId), await statusOf(second.intentId)]).toEqual([null, 'mismatch'])
    const away = await bodyOf(client.receipts.update({ params: { id }, body: { transactionId: null } }))
    expect(away).toMatchObject({ transactionId: null, intentId: null, status: 'unmatched', matchedBy: null })
    expect(await statusOf(second.intentId)).toBe(null)
    const nobody = { transactionId: 'txn_01jd8x2m4ye7k9v0c3q5r6t8wz' }
    expect(await client.receipts.update({ params: { id }, body: nobody })).toMatchObject({
      status: 404,
      code: 'transaction_not_found',
    })
  })

  test('deleting a receipt erases its files and emits an event; agents cannot delete one', async () => {
    const { client, agentClient, ownerId, transactionId, intentId } = await aPayer()
    const { id } = await sent(agentClient, await aPhoto().png().toBuffer(), { transactionId })
    expect(await agentClient.receipts.delete({ params: { id } })).toMatchObject({ status: 403 })
    const gone = await client.receipts.delete({ params: { id } })
    expect(gone.status).toBe(204)
    expect((await traceOf(service, gone))?.events).toEqual(['receipt.deleted'])
    expect(await service.sql('select from stored_files where owner_id = $1', [ownerId])).toEqual([])
    expect(await client.receipts.get({ params: { id } })).toMatchObject({ status: 404 })
    expect((await bodyOf(client.intents.get({ params: { id: intentId } }))).receiptStatus).toBe(null)
  })

  test('is visible only to its agent and owner', async () => {
    const { client, agentClient, transactionId } = await aPayer()
    const photo = await aPhoto(10, 10).png().toBuffer()
    const { id } = await sent(client, photo, { transactionId })
    expect(await bodyOf(agentClient.receipts.get({ params: { id } }))).toMatchObject({ id })
    const stranger = await anAgentClient(service, client, (await anAgent(client)).id)
    const { client: otherOwner } = await service.owner()
    for (const other of [stranger, otherOwner]) {
      expect(await other.receipts.get({ params: { id } })).toMatchObject({ status: 404 })
      expect(await other.receipts.thumbnail({ params: { id } })).toMatchObject({ status: 404 })
      expect(await send(other, photo, { transactionId })).toMatchObject({ code: 'transaction_not_found' })
      expect((await bodyOf(other.receipts.list())).data).toEqual([])
      expect((await bodyOf(other.receipts.missing())).data).toEqual([])
    }
    const { token } = await aToken(client, (await anAgent(client)).id, { scopes: ['receipts:read'] })
    expect(await send(service.client(String(token)), photo)).toMatchObject({ code: 'missing_scope' })
  })

  test('equal receipts are stored once per owner', async () => {
    const [first, second] = [await aPayer(), await aPayer()]
    const photo = await aPhoto(300, 200).jpeg().toBuffer()
    for (const { client } of [first, first, second]) await sent(client, photo)
    // The original and its two pictures; small ones may be the same picture.
    const count = filesOf(first.ownerId).length
    expect(count).toBeLessThanOrEqual(3)
    expect(filesOf(second.ownerId)).toHaveLength(count)
    const contents = [...filesOf(first.ownerId), ...filesOf(second.ownerId)].map(path =>
      hash('sha256', readFileSync(path), 'hex'),
    )
    expect(new Set(contents).size).toBe(2 * count)
  })

  test('a receipt with a flipped bit is refused', async () => {
    const { client, key, ownerId } = await aPayer()
    const { id } = await sent(client, await aPdf(['A bill']))
    for (const path of filesOf(ownerId)) {
      const bytes = readFileSync(path)
      bytes.writeUInt8((bytes.at(-20) ?? 0) ^ 4, bytes.length - 20)
      writeFileSync(path, bytes)
    }
    for (const path of ['file', 'thumbnail', 'thumbnail?size=1200']) {
      const answer = await save(key, `/receipts/${id}/${path}`)
      expect([answer.status, answer.headers.get('x-error-code')]).toEqual([503, 'file_corrupt'])
    }
  })
})
