import { areas } from '../../../src/areas.ts'
import { client } from '../../../src/derive/client.ts'
import { bodyOf, type TestClient } from '../factories.ts'
import { type HttpResponse, http } from '../harness.ts'

/** The headers of a page of ours, as a browser sends them. */
export const FROM_OUR_PAGE = { 'sec-fetch-site': 'same-origin' } as const

/** A person who has signed in: what the browser sends from then on. */
export interface SignedIn {
  readonly personId: string
  readonly sessionId: string
  /** `session=con_…`, as the browser sends it. */
  readonly cookie: string
  /** The cookie, from a page of ours. */
  readonly headers: Readonly<Record<string, string>>
  readonly client: TestClient
}

/** The token in the fragment of a link. */
export const tokenIn = (url: string | null): string => new URL(String(url)).hash.slice(1)

export const redeem = (url: string, link: string | null, headers: Readonly<Record<string, string>> = {}) =>
  http(url, 'POST', '/console/links/redeem', {
    headers: { ...FROM_OUR_PAGE, ...headers },
    body: { token: tokenIn(link) },
  })

/** The first part of a `Set-Cookie` header: what the browser sends back. */
export const cookieOf = ({ headers }: Pick<HttpResponse, 'headers'>): string =>
  String(headers.get('set-cookie')).split(';')[0] as string

/** Signs in by a link, as the page does. */
export async function signInBy(url: string, link: string | null): Promise<SignedIn> {
  const answer = await redeem(url, link)
  if (answer.status !== 201) throw new Error(answer.text)
  const cookie = cookieOf(answer)
  const headers = { ...FROM_OUR_PAGE, cookie }
  const { id: sessionId, personId } = answer.body
  return { personId, sessionId, cookie, headers, client: client(areas, { url, headers }) }
}

/** The first person of an account, an owner, signed in by a link that was made with the key of this client. */
export const firstPerson = async (url: string, client: TestClient): Promise<SignedIn> =>
  signInBy(url, (await bodyOf(client.console.createLink())).url)

/** Another person of the account, who has joined by the link of the invitation. */
export const invited = async (
  url: string,
  { people }: TestClient,
  role: 'owner' | 'approver' | 'viewer',
): Promise<SignedIn> =>
  signInBy(url, (await bodyOf(people.create({ body: { name: `The ${role}`, role } }))).joinUrl)
