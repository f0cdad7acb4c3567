import { describe, expect, test } from '@jest/globals'
import { eventNames, freezeAgent, startPushService, subscriptionIds } from '../../support/delivery/push.ts'
import { decrypt } from '../../support/delivery/push-service.ts'
import { anAgent, anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { until } from '../../support/until.ts'

const { service, aBrowser } = await startPushService()

describe('an event', () => {
  test('is pushed to every subscribed browser, with its ids only', async () => {
    const { client } = await service.owner()
    const { client: stranger } = await service.owner()
    const browsers = [await aBrowser(client), await aBrowser(client, { events: ['*'] })]
    const unsubscribed = [
      await aBrowser(client, { events: ['transfer.failed'] }),
      await aBrowser(client, { expirationTime: 1 }),
      await aBrowser(stranger),
    ]
    const agent = await anAgent(client)
    const intent = await anIntent(client, agent.id, { merchant: 'Casino', purpose: 'Nobody’s business' })
    await until('both to hear of it', () =>
      browsers.every(browser => eventNames(browser).includes('intent.created')),
    )
    const messages = browsers[0]?.messages ?? []
    expect(messages.map(({ payload }) => payload)).toEqual([
      {
        eventId: expect.stringMatching(/^event_/),
        event: 'intent.created',
        createdAt: expect.any(String),
        intentId: intent.id,
        agentId: agent.id,
      },
    ])
    expect(messages[0]?.headers.urgency).toBe('high')
    expect(unsubscribed.flatMap(eventNames)).toEqual([])
  })

  test('of an intent that is decided at once is pushed to nobody', async () => {
    const { client } = await service.owner()
    const browser = await aBrowser(client, { events: ['intent.created', 'agent.frozen'] })
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 50 })
    expect((await anIntent(client, agent.id)).status).toBe('approved')
    await freezeAgent(client, agent.id)
    await until('the last of it', () => eventNames(browser).includes('agent.frozen'))
    expect(eventNames(browser)).toEqual(['agent.frozen'])
  })

  test('deletes a subscription that the push service calls gone, and is not repeated to one that failed', async () => {
    const { client } = await service.owner()
    const [expired, failing] = [await aBrowser(client), await aBrowser(client)]
    expired.answerWith(410)
    failing.answerWith(503)
    const agent = await anAgent(client)
    await freezeAgent(client, agent.id)
    await until('one to be dropped', async () => (await subscriptionIds(client)).length === 1)
    failing.answerWith(201)
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    await freezeAgent(client, agent.id)
    await until('the second', () => failing.messages.length === 2)
    expect(await subscriptionIds(client)).toEqual([failing.id])
    expect([eventNames(expired), eventNames(failing)]).toEqual([
      ['agent.frozen'],
      ['agent.frozen', 'agent.frozen'],
    ])
    const { data } = await bodyOf(client.events.list({ query: { event: 'push_subscription.deleted' } }))
    expect(data.map(event => event.data)).toEqual([
      { subscriptionId: expired.id, label: null, personId: null, reason: 'gone' },
    ])
  })

  test('does not wait for a push service that does not answer', async () => {
    const { client } = await service.owner()
    const silent = await aBrowser(client)
    silent.answerWith(null)
    const agent = await anAgent(client)
    await freezeAgent(client, agent.id)
    await until('it to be asked', () => silent.messages.length === 1)
    const other = await aBrowser(client, { events: ['agent.unfrozen'] })
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    await until('the other one', () => eventNames(other).length === 1)
    expect(silent.messages).toHaveLength(1)
    silent.answerWith(201)
  })

  test('whose process died is pushed by another one, under the same topic', async () => {
    const { client } = await service.owner()
    const browser = await aBrowser(client, { events: ['agent.frozen'] })
    const agent = await anAgent(client)
    await service.sql(`insert into process_leases values ('dead', 'pushes', now())`)
    await service.sql(`create function taken_by_the_dead() returns trigger language plpgsql as $$ begin
      new.leased_by := 'dead'; new.leased_until := now() + interval '1 hour'; return new; end $$`)
    await service.sql(
      `create trigger taken before insert on pushes for each row execute function taken_by_the_dead()`,
    )
    await freezeAgent(client, agent.id)
    await service.sql('drop trigger taken on pushes')
    await service.sql('notify pushes')
    expect(eventNames(browser)).toEqual([])
    expect(await service.sql(`select free_leases('pushes') as count`)).toEqual([{ count: 1 }])
    await service.sql('notify pushes')
    await until('it to arrive', () => eventNames(browser).length === 1)
    const [{ headers, payload } = browser.messages[0] as never] = browser.messages
    expect(payload.eventId).toBe(`event_${headers.topic}`)
  })

  test('is pushed where it begins a step of approvals, as the people of the step are asked', async () => {
    const { client, ownerId } = await service.owner()
    const browser = await aBrowser(client)
    await service.sql(
      `with written as (
         insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
         select first_id_at('event', now()) || lpad(n::text, 16, '0'), $1, 'test', event, data || '{"intentId":"intent_1"}',
           'r', now(), 'key', 'intents.approve', 'done', 'intent_1'
         from (values (1, 'intent.approval_recorded', '{"personId":"person_1"}'::jsonb),
           (2, 'intent.approval_recorded', '{"personId":"person_2","beginsStep":true}')) as v (n, event, data)
         returning id, owner_id as "ownerId", mode, event, data)
       select publish_pushes((select jsonb_agg(written) from written), array[$1])`,
      [ownerId],
    )
    await service.sql('notify pushes')
    await until('it to arrive', () => browser.messages.length > 0)
    expect(browser.messages.map(({ payload }) => payload.personId)).toEqual(['person_2'])
  })

  test('is pushed once, whichever of several processes pushes it', async () => {
    const { client, ownerId } = await service.owner()
    const browser = await aBrowser(client, { events: ['agent.frozen'] })
    await service.sql(
      `with written as (
         insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
         select first_id_at('event', now()) || lpad(n::text, 16, '0'), $1, 'test', 'agent.frozen',
           jsonb_build_object('agentId', n::text), 'r', now(), 'key', 'agents.freeze', 'done', n::text
         from generate_series(1, 100) n returning id, owner_id as "ownerId", mode, event, data)
       select publish_pushes((select jsonb_agg(written) from written), array[$1])`,
      [ownerId],
    )
    await service.sql('notify pushes')
    const waitingPushes = () => service.sql('select 1 from pushes where owner_id = $1', [ownerId])
    await until('none is left', async () => (await waitingPushes()).length === 0)
    expect(new Set(browser.messages.map(({ payload }) => payload.agentId)).size).toBe(100)
    expect(browser.messages).toHaveLength(100)
  })
})

test('the browsers of these tests decrypt the example of RFC 8291, section 5', () => {
  const base64 = (text: string) => Buffer.from(text, 'base64url')
  const body = base64(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
  const text = decrypt(
    body,
    base64('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
    base64('BTBZMqHH6r4Tts7J_aSIgg'),
  )
  expect(text.toString()).toBe('When I grow up, I want to be a watermelon')
})
