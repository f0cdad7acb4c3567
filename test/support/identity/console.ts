import type { Mode } from '../../../src/kernel/contract/actor.ts'
import type { PersonRole } from '../../../src/kernel/contract/scopes.ts'
import { hashSecret, newSecret } from '../../../src/kernel/database/credential.ts'
import { newId } from '../../../src/values/ids.ts'
import { clientAt } from '../client.ts'
import { bodyOf, type TestClient } from '../factories.ts'
import { type HttpResponse, http, type TestService } from '../harness.ts'
import type { Authenticator, Manner } from './authenticator.ts'

/** The headers that a browser sends from our own page. */
export const FROM_OUR_PAGE = { 'sec-fetch-site': 'same-origin' } as const

export interface SignedIn {
  readonly personId: string
  readonly sessionId: string
  /** `session=con_…`, as the browser sends it. */
  readonly cookie: string
  /** The cookie, sent from our own page. */
  readonly headers: Readonly<Record<string, string>>
  readonly client: TestClient
}

export const tokenIn = (url: string | null): string => new URL(String(url)).hash.slice(1)

export const redeem = (url: string, link: string | null, headers: Readonly<Record<string, string>> = {}) =>
  http(url, 'POST', '/console/links/redeem', {
    headers: { ...FROM_OUR_PAGE, ...headers },
    body: { token: tokenIn(link) },
  })

/** The first part of a `Set-Cookie` header, which the browser sends back. */
export const cookieOf = ({ headers }: Pick<HttpResponse, 'headers'>): string =>
  String(headers.get('set-cookie')).split(';')[0] as string

export function signedInBy(url: string, answer: HttpResponse): SignedIn {
  if (answer.status !== 201) throw new Error(answer.text)
  const cookie = cookieOf(answer)
  const headers = { ...FROM_OUR_PAGE, cookie }
  const { id: sessionId, personId } = answer.body
  return { personId, sessionId, cookie, headers, client: clientAt({ url, headers }) }
}

export async function firstPerson(url: string, owner: TestClient): Promise<SignedIn> {
  const { url: link } = await bodyOf(owner.console.createLink())
  return signedInBy(url, await redeem(url, link))
}

interface Account {
  readonly ownerId: string
  readonly mode?: Mode
}

interface LinkMembers {
  readonly role?: PersonRole
  readonly personId?: string | undefined
}

const PERSON = `
insert into people (owner_id, mode, id, created_at, updated_at, name, role, status, joined_at)
values ($1, $2, $3, now(), now(), $4, $5, 'active', now())`

const LINK = `
insert into person_links (owner_id, mode, id, created_at, updated_at, person_id, kind, hash, expires_at)
values ($1, $2, $3, now(), now(), $4, 'sign_in', $5, now() + interval '10 minutes')`

/** A link for a new or known person that needs no consent. */
export async function aLink(
  { sql, url }: Pick<TestService, 'sql' | 'url'>,
  { ownerId, mode = 'test' }: Account,
  { role = 'owner', personId: known }: LinkMembers = {},
): Promise<{ personId: string; url: string }> {
  const personId = known ?? newId('person')
  if (!known) await sql(PERSON, [ownerId, mode, personId, `The ${role}`, role])
  const token = newSecret('lnk_')
  await sql(LINK, [ownerId, mode, newId('consolelink'), personId, hashSecret(token)])
  return { personId, url: `${url}/login#${token}` }
}

/** A person who signed in by a link; the account may have others. */
export async function signedInTo(
  service: Pick<TestService, 'sql' | 'url'>,
  account: Account,
  members: LinkMembers = {},
): Promise<SignedIn> {
  const { url: link } = await aLink(service, account, members)
  return signedInBy(service.url, await redeem(service.url, link))
}

export async function signInWith(url: string, device: Authenticator, manner: Manner = {}) {
  const { body } = await http(url, 'POST', '/console/sign-in/options', { headers: FROM_OUR_PAGE })
  return { challengeId: body.challengeId, assertion: device.assert(body.options, manner) }
}

export const signIn = (
  url: string,
  body: Awaited<ReturnType<typeof signInWith>>,
  headers: Readonly<Record<string, string>> = FROM_OUR_PAGE,
) => http(url, 'POST', '/console/sign-in', { headers, body })
