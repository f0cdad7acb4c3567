import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { service } from './with-model.ts'

describe('a conversation', () => {
  test('takes exactly as many messages as it may have, however many come at once', async () => {
    const { client, key } = await service.owner()
    const ask = (body: object) => service.http('POST', '/canvas/messages', { token: key, body })
    await ask({ message: 'help' })
    const [conversation] = (await bodyOf(client.canvas.list())).data
    const conversationId = String(conversation?.id)
    await service.sql(
      `insert into conversation_turns (owner_id, mode, id, created_at, updated_at, conversation_id, message)
       select owner_id, mode, 'turn_' || lpad(n::text, 26, '0'), now(), now(), conversation_id, 'help'
       from conversation_turns, generate_series(1, 96) n where conversation_id = $1`,
      [conversationId],
    )
    const asked = await Promise.all(Array.from({ length: 8 }, () => ask({ message: 'help', conversationId })))
    expect(asked.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(asked.flatMap(({ headers }) => headers.get('x-error-code') ?? [])).toEqual(
      Array.from({ length: 5 }, () => 'conversation_full'),
    )
    const { turns } = await bodyOf(client.canvas.get({ params: { id: conversationId } }))
    expect(turns).toHaveLength(100)
  })
})
