import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { anAgentClient } from '../../support/cards/reveal.ts'
import { runCommand } from '../../support/command.ts'
import { anAgent, anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { advance } from '../../support/sandbox.ts'
import { traceOf } from '../../support/trace.ts'
import { aPayer, keep, kept, PNG, save, service } from './service.ts'

const sha256 = (content: string | Uint8Array): string => hash('sha256', content, 'hex')

describe('evidence', () => {
  test('that is a text is kept as it came, with its SHA-256 and its time in the audit trail', async () => {
    const { client, agentClient, agent, intent, ownerId } = await aPayer()
    await advance(client, { days: 3 })
    const text = '  Thank you, Ada!\nOrder 4711 – ready on Monday 🚲\n'
    const answer = await keep(agentClient, intent.id, { text, note: 'The last page' })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        ownerId,
        agentId: agent.id,
        intentId: intent.id,
        type: 'confirmation',
        note: 'The last page',
        text,
        fileName: null,
        mediaType: 'text/plain',
        bytes: Buffer.byteLength(text),
        sha256: sha256(text),
      },
    })
    const { id, receivedAt, createdAt } = answer.body
    // The test clock is three days ahead; `receivedAt` is real time.
    expect(Date.parse(createdAt) - Date.parse(receivedAt)).toBeGreaterThan(2 * 86_400_000)
    expect((await traceOf(service, answer))?.events).toEqual(['evidence.added'])
    const { data } = await bodyOf(client.audit.list({ query: { resource: id } }))
    expect(data).toMatchObject([{ event: 'evidence.added', sha256: sha256(text), receivedAt }])
    const { data: events } = await bodyOf(client.events.list({ query: { limit: 1 } }))
    expect(events).toMatchObject([
      { event: 'evidence.added', data: { evidenceId: id, intentId: intent.id, sha256: sha256(text) } },
    ])
  })

  test('a file is uploaded as a form or as JSON, and downloaded unchanged as an attachment', async () => {
    const { key, agentClient, intent } = await aPayer()
    const bytes = Buffer.from(PNG, 'base64')
    const form = new FormData()
    form.set('intentId', intent.id)
    form.set('type', 'screenshot')
    form.set('file', new File([bytes], 'order page.png', { type: 'image/png' }))
    const headers = { authorization: `Bearer ${key}` }
    const sent = await fetch(`${service.url}/evidence`, { method: 'POST', headers, body: form })
    const { id, ...told } = (await sent.json()) as { id: string }
    expect(told).toMatchObject({
      fileName: 'order page.png',
      mediaType: 'image/png',
      text: null,
      bytes: bytes.length,
      sha256: sha256(bytes),
    })
    const other = await kept(agentClient, intent.id, { file: PNG, type: 'screenshot' })
    for (const one of [id, other.id]) {
      const answer = await save(key, `/evidence/${one}/file`)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-disposition': `attachment; filename="${one}.png"`,
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      })
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes)
    }
  })

  test('a file without a note has none, as the packages and the command send it', async () => {
    const { agentClient, intent, key } = await aPayer()
    const file = new File([Buffer.from(PNG, 'base64')], 'order.png', { type: 'image/png' })
    const members = { file: file as never, note: null }
    expect(await kept(agentClient, intent.id, members)).toMatchObject({ note: null })
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'order.png'), Buffer.from(PNG, 'base64'))
    const argv = [
      'evidence',
      'create',
      intent.id,
      '--type',
      'invoice',
      '--file',
      'order.png',
      '--note',
      'null',
    ]
    const { out } = await runCommand(argv, { cwd, env: { AGENTPAY_URL: service.url, AGENTPAY_KEY: key } })
    expect(JSON.parse(out)).toMatchObject({ note: null })
  })

  test.each([
    ['a PNG that is cut off', Buffer.from(PNG, 'base64').subarray(0, 50), /broken or truncated/],
    ['the first bytes of a PDF', Buffer.from('%PDF-1.4\n'), /cannot be opened as a PDF/],
  ])('that is %s is refused, and nothing of it is kept', async (_, bytes, error) => {
    const { client, intent, ownerId } = await aPayer()
    const answer = await keep(client, intent.id, { file: bytes.toString('base64'), text: undefined })
    expect(answer).toMatchObject({ status: 400, error: expect.stringMatching(error) })
    for (const table of ['evidence', 'stored_files'])
      expect(await service.sql(`select from ${table} where owner_id = $1`, [ownerId])).toEqual([])
  })

  test('that is a text leaves as a text file', async () => {
    const { key, client, intent } = await aPayer()
    const { id } = await kept(client, intent.id, { text: '<script>alert(1)</script>' })
    const answer = await save(key, `/evidence/${id}/file`)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${id}.txt"`)
    expect(await answer.text()).toBe('<script>alert(1)</script>')
  })

  test('is listed by intent, agent, type and time, newest first', async () => {
    const { client, agent, intent } = await aPayer()
    const second = await anIntent(client, agent.id)
    const ids = [
      await kept(client, intent.id),
      await kept(client, intent.id, { text: 'b', type: 'other' }),
      await kept(client, second.id),
    ].map(({ id }) => id)
    const list = async (query: object) =>
      (await bodyOf(client.evidence.list({ query }))).data.map(({ id }) => ids.indexOf(id))
    expect(await list({})).toEqual([2, 1, 0])
    expect(await list({ intentId: intent.id })).toEqual([1, 0])
    expect(await list({ intentId: intent.id, type: 'other' })).toEqual([1])
    expect(await list({ agentId: agent.id, limit: 1 })).toEqual([2])
    expect(await list({ to: new Date(0).toISOString() })).toEqual([])
  })

  test('is visible only to its agent and owner', async () => {
    const { client, agentClient, intent } = await aPayer()
    const { id } = await kept(agentClient, intent.id)
    const stranger = await anAgentClient(service, client, (await anAgent(client)).id)
    const { client: otherOwner } = await service.owner()
    for (const other of [stranger, otherOwner]) {
      expect(await other.evidence.get({ params: { id } })).toMatchObject({ status: 404 })
      expect(await other.evidence.file({ params: { id } })).toMatchObject({ status: 404 })
      expect((await bodyOf(other.evidence.list())).data).toEqual([])
      expect(await keep(other, intent.id)).toMatchObject({ status: 404, code: 'intent_not_found' })
    }
    expect(await bodyOf(client.evidence.get({ params: { id } }))).toMatchObject({ id })
  })

  test('needs the scopes that agents have by default', async () => {
    const { client, agent, intent } = await aPayer()
    const { token } = await aToken(client, agent.id, { scopes: ['evidence:read'] })
    const reader = service.client(String(token))
    expect(await keep(reader, intent.id)).toMatchObject({ status: 403, code: 'missing_scope' })
    expect((await bodyOf(reader.evidence.list())).data).toEqual([])
  })

  test.each<[string, object, RegExp]>([
    ['nothing', {}, /^file: send either file or text/],
    ['both', { text: 'a', file: PNG }, /^file: send either file or text/],
    ['a file of another kind', { file: Buffer.from('GIF89a').toString('base64') }, /^file: must be a PDF/],
    ['an empty text', { text: '' }, /^text: /],
    ['a text that is too long', { text: 'x'.repeat(20_001) }, /^text: /],
    ['half a character', { text: '\ud800' }, /^text: half of/],
    ['a card number', { text: 'Paid with 4242 4242 4242 4242.' }, /^text: .*card/],
    ['a note with a card number', { text: 'a', note: '4242424242424242' }, /^note: .*card/],
  ])('of %s is a 400 that says so, and nothing is kept', async (_, members, error) => {
    const { client, ownerId, intent } = await aPayer()
    const answer = await keep(client, intent.id, members)
    expect(answer).toMatchObject({ status: 400, error: expect.stringMatching(error) })
    expect(await service.sql('select from evidence where owner_id = $1', [ownerId])).toEqual([])
    expect(await service.sql('select from stored_files where owner_id = $1', [ownerId])).toEqual([])
  })

  test('beyond a hundred pieces of an intent is refused, also of twenty at once', async () => {
    const { client, agent, ownerId, intent } = await aPayer()
    await service.sql(
      `insert into evidence (owner_id, mode, id, created_at, updated_at, agent_id, intent_id, type, text, media_type, bytes, sha256, received_at)
       select $1, 'test', 'evidence_' || n, now(), now(), $2, $3, 'other', 'a', 'text/plain', 1, $4, now() from generate_series(1, 95) n`,
      [ownerId, agent.id, intent.id, sha256('a')],
    )
    const answers = await Promise.all(Array.from({ length: 20 }, () => keep(client, intent.id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(201),
      ...Array(15).fill(400),
    ])
    expect(answers.find(({ status }) => status === 400)).toMatchObject({ code: 'too_much_evidence' })
  })

  test('is one piece under one idempotency key', async () => {
    const { client, intent } = await aPayer()
    const body = { intentId: intent.id, type: 'screenshot', file: PNG } as const
    const send = () => bodyOf(client.evidence.create({ body, idempotencyKey: 'evidence-1' }))
    const [first, again] = [await send(), await send()]
    expect(again).toEqual(first)
    expect((await bodyOf(client.evidence.list())).data).toHaveLength(1)
  })

  test('the database refuses to change or delete evidence', async () => {
    const { client, intent } = await aPayer()
    const { id } = await kept(client, intent.id)
    for (const statement of ['update evidence set note = null', 'delete from evidence'])
      await expect(
        service.sql(`do $$ begin set local role agentpay_application; ${statement}; end $$`),
      ).rejects.toThrow(/permission denied/)
    await expect(service.sql('update evidence set note = null where id = $1', [id])).rejects.toThrow()
  })
})
