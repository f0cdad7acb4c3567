import { afterAll } from '@jest/globals'
import type { JWTPayload } from 'jose'
import { bodyOf } from '../../support/factories.ts'
import { type HttpResponse, http, startTestService } from '../../support/harness.ts'
import { cookieOf, FROM_OUR_PAGE } from '../../support/identity/console.ts'
import { CLIENT_ID, CLIENT_SECRET, OpenidProvider } from '../../support/identity/openid-provider.ts'

export const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
export const { url } = service

const providers: OpenidProvider[] = []
afterAll(() => {
  for (const provider of providers) provider.stop()
})

export async function aProvider(): Promise<OpenidProvider> {
  const provider = await OpenidProvider.start()
  providers.push(provider)
  return provider
}

type Owner = Awaited<ReturnType<typeof service.owner>>
type Configuration = NonNullable<Parameters<Owner['client']['sso']['create']>[0]>['body']

export const configurationOf = (
  { issuer }: Pick<OpenidProvider, 'issuer'>,
  changed: Partial<Configuration> = {},
) => ({ name: 'Example Corp', issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...changed })

/** An owner whose people sign in with an identity provider. */
export async function anOwnerWithSso(changed: Partial<Configuration> = {}, given?: OpenidProvider) {
  const provider = given ?? (await aProvider())
  const owner = await service.owner()
  const { id } = await bodyOf(owner.client.sso.create({ body: configurationOf(provider, changed) }))
  return { ...owner, provider, id }
}

export type OwnerWithSso = Awaited<ReturnType<typeof anOwnerWithSso>>

export const GRACE = { sub: 'grace', email: 'grace@example.com', email_verified: true }

export const invite = (
  { client }: Pick<Owner, 'client'>,
  role: 'owner' | 'approver' | 'viewer' = 'approver',
) => bodyOf(client.people.create({ body: { name: 'Grace Hopper', email: GRACE.email, role } }))

interface Begun {
  readonly redirectTo: string
  /** The cookie that proves the browser. */
  readonly cookie: string
}

export async function begin(id: string): Promise<Begun> {
  const answer = await http(url, 'POST', `/sso/${id}/start`, { headers: FROM_OUR_PAGE, body: {} })
  if (answer.status !== 201) throw new Error(answer.text)
  return { redirectTo: answer.body.redirectTo, cookie: cookieOf(answer) }
}

export const finish = (
  id: string,
  body: object,
  { cookie }: Pick<Begun, 'cookie'>,
  headers: Readonly<Record<string, string>> = FROM_OUR_PAGE,
): Promise<HttpResponse> => http(url, 'POST', `/sso/${id}/sign-in`, { headers: { ...headers, cookie }, body })

export async function signIn(
  { id, provider }: Pick<OwnerWithSso, 'id' | 'provider'>,
  claims: JWTPayload = GRACE,
): Promise<HttpResponse> {
  const begun = await begin(id)
  return finish(id, provider.authorize(begun.redirectTo, claims), begun)
}

export const codeIn = ({ status, headers }: HttpResponse) => [status, headers.get('x-error-code')]
