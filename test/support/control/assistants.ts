import { createHash, randomBytes } from 'node:crypto'
import { type HttpResponse, http } from '../harness.ts'

export interface PersonInBrowser {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Authorization {
  readonly query: Readonly<Record<string, string>>
  readonly verifier: string
}

export const CALLBACK = 'https://assistant.example.com/callback'

export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')

const answered = ({ status, body }: HttpResponse) => ({ status, body })

export const post = async (url: string, path: string, body: object, headers = {}) =>
  answered(await http(url, 'POST', path, { body, headers }))

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

export const form = async (url: string, path: string, members: Readonly<Record<string, string>>) =>
  answered(await http(url, 'POST', path, { body: String(new URLSearchParams(members)), headers: FORM }))

export const readJson = async (address: string): Promise<HttpResponse['body']> =>
  JSON.parse(await (await fetch(address)).text())

export const resourceAt = async (url: string): Promise<string> =>
  (await readJson(`${url}/.well-known/oauth-protected-resource/mcp`)).resource

export async function aRegisteredClient(
  url: string,
  members: object = { client_name: 'Claude', redirect_uris: [CALLBACK] },
): Promise<string> {
  const { status, body } = await post(url, '/oauth/register', members)
  if (status !== 201) throw new Error(`registering: ${JSON.stringify(body)}`)
  return body.client_id
}

/** The request of a well-behaved client, with these parameters changed. */
export async function anAuthorization(
  url: string,
  changed: Readonly<Record<string, string | undefined>> = {},
): Promise<Authorization> {
  const verifier = randomBytes(32).toString('base64url')
  const query: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: changed.client_id ?? (await aRegisteredClient(url)),
    redirect_uri: CALLBACK,
    state: 'the-state',
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    resource: await resourceAt(url),
    ...changed,
  }
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { query: Object.fromEntries(given), verifier }
}

export const openConsent = (
  { url, headers }: PersonInBrowser,
  { query }: Pick<Authorization, 'query'>,
): Promise<Response> =>
  fetch(`${url}/oauth/authorize?${new URLSearchParams(query)}`, {
    headers: { ...headers, accept: 'text/html' },
    redirect: 'manual',
  })

export async function consentTo(person: PersonInBrowser, authorization: Authorization) {
  const page = await openConsent(person, authorization)
  const text = await page.text()
  const ticket = /data-ticket="([^"]+)"/.exec(text)?.[1]
  if (!ticket) throw new Error(`the page of consent: ${page.status} ${text.slice(0, 500)}`)
  return { ticket, text }
}

export interface ApprovedCode {
  readonly id: string
  readonly redirectTo: URL
  /** The token request of the client. */
  readonly request: Readonly<Record<string, string>> & { readonly client_id: string }
}

/** What a person chooses, or makes of the ticket of the page. */
export type Choices = object | ((ticket: string) => Promise<object>)

/** What a person chooses on the page and its answer to the client. */
export async function approvedCode(
  person: PersonInBrowser,
  choices: Choices,
  given?: Authorization,
): Promise<ApprovedCode> {
  const authorization = given ?? (await anAuthorization(person.url))
  const { ticket } = await consentTo(person, authorization)
  const chosen = typeof choices === 'function' ? await choices(ticket) : choices
  const body = { ticket, scopes: ['payer'], ...chosen }
  const answer = await post(person.url, '/oauth/approve', body, person.headers)
  if (answer.status !== 200) throw new Error(`approving: ${JSON.stringify(answer.body)}`)
  const redirectTo = new URL(answer.body.redirectTo)
  const { query, verifier } = authorization
  return {
    id: answer.body.id,
    redirectTo,
    request: {
      grant_type: 'authorization_code',
      client_id: String(query.client_id),
      code: String(redirectTo.searchParams.get('code')),
      code_verifier: verifier,
      redirect_uri: String(query.redirect_uri),
      resource: String(query.resource),
    },
  }
}

export async function connect(url: string, { request }: Pick<ApprovedCode, 'request'>) {
  const { status, body } = await form(url, '/oauth/token', request)
  if (status !== 200) throw new Error(`redeeming: ${JSON.stringify(body)}`)
  return body
}

/** Remembers in memory what the official client stores. */
export function anOauthProvider(callback: string) {
  const asked: URL[] = []
  // biome-ignore lint/suspicious/noExplicitAny: the client stores objects of its own
  const kept: Record<string, any> = {}
  const provider = {
    redirectUrl: callback,
    clientMetadata: { client_name: 'Official client', redirect_uris: [callback] },
    state: () => 'a-state',
    clientInformation: () => kept.client,
    saveClientInformation: (client: object) => {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: object) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (address: URL) => {
      asked.push(address)
    },
    saveDiscoveryState: (state: object) => {
      kept.discovery = state
    },
    discoveryState: () => kept.discovery,
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier as string,
  }
  return { provider, asked }
}
