import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import type { OutboundHttp } from '../../../src/ports/outbound.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import { startTestService, type TestService } from '../harness.ts'
import { certificate } from '../http/certificate.ts'
import { nameServer } from '../http/name-server.ts'
import { type SignedIn, signedInTo } from '../identity/console.ts'
import { until } from '../until.ts'
import { mailServer, type ReceivedMail } from './mail-server.ts'

interface ReceivedHook {
  readonly url: string
  readonly body: unknown
}

/** Incoming webhooks of Slack and Teams: their hosts lead to a server on the loopback, through the real client. */
export async function incomingWebhooks() {
  const { resolver } = await nameServer({ 'receiver.example': ['127.0.0.1'] })
  const messages: ReceivedHook[] = []
  const statuses = new Map<string, number>()
  const held = { urls: new Set<string>(), open: 0, most: 0, release: Promise.withResolvers<void>() }
  const hold = async (response: ServerResponse): Promise<void> => {
    held.most = Math.max(held.most, ++held.open)
    await Promise.race([held.release.promise, once(response, 'close')])
    held.open -= 1
  }
  const server = createServer(certificate, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const url = `https:/${request.url}`
    messages.push({ url, body: JSON.parse(body) })
    if (held.urls.has(url)) await hold(response)
    response.writeHead(statuses.get(url) ?? 200).end('ok')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `https://receiver.example:${(server.address() as AddressInfo).port}`
  const real = guardedHttp({ allow: ['127.0.0.0/8'], resolver, ca: certificate.cert })
  const outbound: OutboundHttp = {
    ...real,
    send: request => real.send({ ...request, url: request.url.replace(/^https:\//, origin) }),
  }
  return {
    outbound,
    to: (url: string) => messages.filter(message => message.url === url),
    answerWith: (url: string, status: number) => void statuses.set(url, status),
    /** Leaves messages to this address unanswered until `release`, which says how many were unanswered at once. */
    hold: (url: string) => void held.urls.add(url),
    release: () => {
      held.release.resolve()
      return held.most
    },
  }
}

export const SLACK = 'https://hooks.slack.com/services/T1/B1/'
export const TEAMS = 'https://prod-1.westeurope.logic.azure.com/workflows/'

type ChannelBody = NonNullable<Parameters<TestClient['channels']['create']>[0]['body']>

export interface Asked extends SignedIn {
  readonly address: string
}

export async function startChannelService() {
  const mail = await mailServer()
  const hooks = await incomingWebhooks()
  const service = await startTestService({
    messages: true,
    outbound: hooks.outbound,
    env: { SMTP_URL: mail.url, MAIL_FROM: 'pay@example.com' },
  })
  const mailsTo = (address: string) => mail.messages.filter(({ to }) => to.includes(address))
  let count = 0

  /** A person in the console, with an address on record. */
  async function aPersonAsked(
    account: Parameters<typeof signedInTo>[1],
    role: 'owner' | 'approver' | 'viewer' = 'approver',
  ): Promise<Asked> {
    const person = await signedInTo(service, account, { role })
    const address = `person-${++count}@example.com`
    await service.sql('update people set email = $2 where id = $1', [person.personId, address])
    return { ...person, address }
  }

  const create = (person: SignedIn, body: ChannelBody) =>
    bodyOf(person.client.channels.create({ params: { id: person.personId }, body }))

  const verify = (person: SignedIn, channelId: string, code: string) =>
    person.client.channels.verify({ params: { id: person.personId, channelId }, body: { code } })

  async function anEmailChannel(person: Asked, members: Partial<ChannelBody> = {}) {
    const before = mailsTo(person.address).length
    const channel = await create(person, { type: 'email', ...members })
    const code = codeIn((await until('the code', () => mailsTo(person.address)[before])).parsed.text)
    return bodyOf(verify(person, channel.id, code))
  }

  async function aWebhookChannel(
    person: SignedIn,
    type: 'slack' | 'teams',
    members: Partial<ChannelBody> = {},
  ) {
    const url = `${type === 'slack' ? SLACK : TEAMS}${++count}`
    const channel = await create(person, { type, url, ...members })
    const { body } = await until('the code', () => hooks.to(url)[0])
    return { ...(await bodyOf(verify(person, channel.id, codeIn(JSON.stringify(body))))), url }
  }

  /** No message waits any more: each was sent, or dropped. */
  const allSent = async (ownerId: string) => {
    await service.sql('notify channel_messages')
    await until('the messages', async () => {
      const waiting = 'select from channel_messages where owner_id = $1 and due_at <= clock_timestamp()'
      return (await service.sql(waiting, [ownerId])).length === 0
    })
  }

  return {
    mail,
    hooks,
    service,
    mailsTo,
    aPersonAsked,
    create,
    verify,
    anEmailChannel,
    aWebhookChannel,
    allSent,
  }
}

export const codeIn = (text = ''): string => /\b\d{6}\b/.exec(text)?.[0] ?? ''

export const linkIn = ({ parsed }: ReceivedMail): string =>
  /https?:\/\/\S+/.exec(parsed.text ?? '')?.[0] ?? ''

/** An agent whose every intent waits for a person. */
export const anAskingAgent = (client: TestClient, name = 'Research assistant') =>
  anAgentUnder(client, { autoApproveLimitEuros: 0.01 }).then(({ id }) =>
    bodyOf(client.agents.update({ params: { id }, body: { name } })),
  )

export const aWaitingIntent = (client: TestClient, agentId: string, members: object = {}) =>
  anIntent(client, agentId, members)

export type ChannelService = Awaited<ReturnType<typeof startChannelService>>
export type { TestService }
