import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import {
  type CryptoKey,
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose'

export const CLIENT_ID = 'agent-payments'
export const CLIENT_SECRET = 'a secret: with/special characters'

interface IssuedCode {
  readonly redirectUri: string
  readonly challenge: string
  readonly claims: JWTPayload
}

interface SigningKey {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

export async function aSigningKey(alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  return { privateKey, jwk: { ...jwk, alg, use: 'sig', kid: await calculateJwkThumbprint(jwk) } }
}

const secondsNow = (): number => Math.floor(Date.now() / 1_000)

/** An identity provider on loopback that checks what a client sends, and whose answers a test can change. */
export class OpenidProvider {
  readonly #server: Server
  readonly #codes = new Map<string, IssuedCode>()
  readonly #uses = new Set<string>()
  readonly tokenRequests: URLSearchParams[] = []
  key: SigningKey
  /** Signs other tokens than it should. */
  sign: (claims: JWTPayload) => Promise<string> | string = claims => this.signed(claims)
  metadata: (own: Readonly<Record<string, unknown>>) => object = own => own
  /** Where it checks a client's own key. */
  clientKeys: string | undefined
  userinfo: object | undefined
  /** Who is signed in at the provider, in the browser. Without a person it refuses. */
  person: JWTPayload | undefined
  /** The paths that were asked for, and what an answer waits for. */
  readonly asked: string[] = []
  hold: Promise<void> | undefined
  /** A careless provider: a code works again. */
  acceptsCodesAgain = false

  private constructor(server: Server, key: SigningKey) {
    this.#server = server
    this.key = key
  }

  static async start(): Promise<OpenidProvider> {
    const server = createServer()
    const provider = new OpenidProvider(server, await aSigningKey())
    server.on('request', async (request, response) => {
      const refused = (error: unknown) => [400, { error: String(error) }] as const
      const [status, body, location = '/elsewhere'] = await provider.#answer(request).catch(refused)
      response.writeHead(status, { 'content-type': 'application/json', location })
      response.end(JSON.stringify(body))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
    return provider
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  signed(claims: JWTPayload, { privateKey, jwk } = this.key): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: String(jwk.alg), kid: String(jwk.kid) })
      .sign(privateKey)
  }

  /** The person signs in at the address to which the service sent the browser. */
  authorize(redirectTo: string, claims: JWTPayload): { code: string; state: string } {
    const { searchParams: asked } = new URL(redirectTo)
    if (asked.get('client_id') !== CLIENT_ID || asked.get('code_challenge_method') !== 'S256')
      throw new Error(`not an authorization request of the client: ${redirectTo}`)
    const code = `code-${this.#codes.size}`
    const now = secondsNow()
    this.#codes.set(code, {
      redirectUri: String(asked.get('redirect_uri')),
      challenge: String(asked.get('code_challenge')),
      claims: {
        iss: this.issuer,
        aud: CLIENT_ID,
        iat: now,
        exp: now + 300,
        nonce: String(asked.get('nonce')),
        ...claims,
      },
    })
    return { code, state: String(asked.get('state')) }
  }

  async #answer(request: IncomingMessage): Promise<readonly [number, object, location?: string]> {
    const own = this.issuer
    this.asked.push(String(request.url))
    await this.hold
    if (request.url?.startsWith('/authorize?')) return [302, {}, this.#sendBack(own + request.url)]
    switch (request.url) {
      case '/.well-known/openid-configuration':
        return [
          200,
          this.metadata({
            issuer: own,
            authorization_endpoint: `${own}/authorize?prompt=login`,
            token_endpoint: `${own}/token`,
            jwks_uri: `${own}/jwks`,
            userinfo_endpoint: `${own}/userinfo`,
            token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
          }),
        ]
      case '/jwks':
        return [200, { keys: [this.key.jwk] }]
      case '/token':
        return [200, await this.#tokens(request)]
      case '/userinfo':
        return request.headers.authorization === 'Bearer the-access-token' && this.userinfo
          ? [200, this.userinfo]
          : [401, {}]
      default:
        return [302, {}]
    }
  }

  #sendBack(asked: string): string {
    const back = new URL(String(new URL(asked).searchParams.get('redirect_uri')))
    const answer = this.person ? this.authorize(asked, this.person) : { error: 'access_denied' }
    back.search = String(new URLSearchParams(answer))
    return back.href
  }

  async #tokens(request: IncomingMessage): Promise<object> {
    const form = new URLSearchParams(String(await buffer(request)))
    this.tokenRequests.push(form)
    await this.#checkClient(request, form)
    const code = String(form.get('code'))
    const issued = this.#codes.get(code)
    const challenge = createHash('sha256')
      .update(String(form.get('code_verifier')))
      .digest('base64url')
    if (!issued || issued.challenge !== challenge || issued.redirectUri !== form.get('redirect_uri'))
      throw new Error('invalid_grant')
    if (this.#uses.has(code) && !this.acceptsCodesAgain) throw new Error('a code works once')
    this.#uses.add(code)
    return {
      access_token: 'the-access-token',
      token_type: 'Bearer',
      id_token: await this.sign(issued.claims),
    }
  }

  async #checkClient({ headers }: IncomingMessage, form: URLSearchParams): Promise<void> {
    if (this.clientKeys === undefined) {
      const [id, secret] = String(Buffer.from(String(headers.authorization).slice(6), 'base64')).split(':')
      const given = new URLSearchParams(`id=${id}&secret=${secret}`)
      if (given.get('id') !== CLIENT_ID || given.get('secret') !== CLIENT_SECRET)
        throw new Error('invalid_client')
      return
    }
    const keys = createLocalJWKSet(JSON.parse(await (await fetch(this.clientKeys)).text()))
    const token = `${this.issuer}/token`
    const options = { issuer: CLIENT_ID, subject: CLIENT_ID, audience: token, requiredClaims: ['jti', 'exp'] }
    await jwtVerify(String(form.get('client_assertion')), keys, options)
  }
}
