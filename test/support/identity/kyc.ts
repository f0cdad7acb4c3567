import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export const PDF = Buffer.from('%PDF-1.4\n').toString('base64')
export const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]).toString('base64')
export const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0]).toString('base64')

type DocumentBody = NonNullable<Parameters<TestClient['kyc']['upload']>[0]['body']>
type SubmissionBody = NonNullable<Parameters<TestClient['kyc']['create']>[0]['body']>

export const torstrasse = {
  line1: 'Torstraße 1',
  line2: null,
  city: 'Berlin',
  postalCode: '10119',
  country: 'DE',
}

/** The account of a person; test owners are companies by default. */
export async function anIndividual(service: TestService, name = 'Ada Lovelace') {
  const body = {
    name,
    email: 'ada@example.com',
    type: 'individual',
    country: 'DE',
    plan: 'business',
  } as const
  const { id: ownerId, key } = await bodyOf(service.dash.keys.openAccount({ body }))
  return { ownerId, key: String(key), client: service.client(String(key)) }
}

export const aDocument = (client: TestClient, kind: DocumentBody['kind'] = 'passport', file: string = PDF) =>
  bodyOf(client.kyc.upload({ body: { kind, file } }))

export async function personNamed(
  client: TestClient,
  name: string,
  members: Partial<SubmissionBody> = {},
): Promise<SubmissionBody> {
  const documentIds = members.documentIds ?? [(await aDocument(client)).id]
  return { name, dateOfBirth: '1985-12-10', nationality: 'DE', address: torstrasse, ...members, documentIds }
}

export const aSubmission = async (
  client: TestClient,
  name = 'Ada Lovelace',
  members: Partial<SubmissionBody> = {},
) => bodyOf(client.kyc.create({ body: await personNamed(client, name, members) }))

/** Carries out everything that is due, without waiting for a run. */
export const settle = (client: TestClient) => bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))

export const eventsOf = async (client: TestClient, prefix: string): Promise<string[]> =>
  (await bodyOf(client.events.list({ query: { limit: 100 } }))).data
    .map(({ event }) => event)
    .filter(event => event.startsWith(prefix))
    .reverse()

export const liveKey = (client: TestClient) =>
  client.keys.create({ body: { name: 'Live', environment: 'live' } })
