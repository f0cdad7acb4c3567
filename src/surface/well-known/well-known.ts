import { mandateStatus } from '../../control/mandates/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { OperationSettings } from '../../kernel/contract/ports.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import type { SignedClaims, SigningPublicKey } from '../../ports/signer.ts'
import { CheckpointRejected, openCheckpoint } from '../../trail/index.ts'
import { addMs, clock, days } from '../../values/clock.ts'
import { SERVICE_VERSION } from '../health/index.ts'
import { LINKSET_MEDIA_TYPE, wellKnownApi } from './api.ts'

interface ShownReceipt {
  readonly members: Readonly<Record<string, unknown>>
  readonly proof: string
}

function receiptProofIn(text: string): ShownReceipt | undefined {
  if (text.includes('.')) return undefined
  try {
    const receipt: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (typeof receipt !== 'object' || receipt === null) return undefined
    const { proof, ...members } = receipt as Readonly<Record<string, unknown>>
    return typeof proof === 'string' ? { members, proof } : undefined
  } catch {
    return undefined
  }
}

interface Kind {
  readonly kind: 'mandate' | 'approval' | 'receipt' | 'evidence' | 'checkpoint'
  /** Why a correctly signed statement no longer holds; undefined if it holds. */
  readonly problem?: (claims: SignedClaims, context: SqlContext) => Promise<string | undefined>
}

const KINDS: Readonly<Record<string, Kind>> = {
  mandate: { kind: 'mandate', problem: mandateProblem },
  'intent-approval': { kind: 'approval' },
  'intent-approvals': { kind: 'approval' },
  'mpp-receipt+jwt': { kind: 'receipt' },
  'payment-evidence': { kind: 'evidence' },
}

const INACTIVE: Readonly<Record<string, string>> = {
  suspended: 'The mandate is suspended.',
  revoked: 'The mandate was revoked.',
  expired: 'The mandate has expired.',
  exhausted: 'The mandate is used up.',
}

async function mandateProblem(
  { ownerId, mode, mandateId }: SignedClaims,
  { sql }: SqlContext,
): Promise<string | undefined> {
  const status = await mandateStatus(sql, { ownerId, mode }, String(mandateId))
  return status === 'active' ? undefined : (INACTIVE[String(status)] ?? 'The mandate is not active.')
}

const UNREADABLE =
  'This is not a signed statement. Send the compact JWS, the header Payment-Receipt, or the note of a checkpoint unchanged, including line ends.'
const UNKNOWN_SIGNER =
  'No key of this installation has signed it: it was changed, or is from another installation.'

const rejected = (reason: string, kind: Kind['kind'] | null = null) => ({ valid: false, kind, reason })

/** Reads only the statement itself; for a mandate, also whether it is in force. */
const verify: HandlerOf<typeof wellKnownApi.verify> = async ({ body }, context) => {
  if (body.statement.includes('\n')) return verifyNote(body.statement, context.systems.signer.publicKeys())
  const receipt = receiptProofIn(body.statement)
  const jws = receipt?.proof ?? body.statement
  const type = typeOf(jws)
  const found = type !== undefined && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  if (type === undefined || !found) return rejected(UNREADABLE)
  const { kind } = found
  const claims = await context.systems.signer.verify(type, jws)
  if (!claims) return rejected(UNKNOWN_SIGNER, kind)
  if (receipt && !isProvedBy(receipt, claims)) return rejected('The receipt differs from its proof.', kind)
  const reason = await found.problem?.(claims, context)
  return reason === undefined ? { valid: true, kind, reason: null } : rejected(reason, kind)
}

/** Only a checkpoint of an audit trail has several lines: it is a signed note. */
function verifyNote(note: string, keys: readonly SigningPublicKey[]) {
  try {
    openCheckpoint(note, { keys })
    return { valid: true, kind: 'checkpoint' as const, reason: null }
  } catch (error) {
    if (error instanceof CheckpointRejected) return rejected(error.message, 'checkpoint')
    throw error
  }
}

/** The members of a receipt are unsigned: each must equal its signed claim. */
const isProvedBy = ({ members }: ShownReceipt, claims: SignedClaims): boolean =>
  Object.entries(members).every(([name, value]) => claims[name] === value)

function typeOf(jws: string): string | undefined {
  const [header = '', ...rest] = jws.split('.')
  if (rest.length !== 2) return undefined
  try {
    const { typ }: { typ?: unknown } = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) ?? {}
    return typeof typ === 'string' ? typ : undefined
  } catch {
    return undefined
  }
}

/** RFC 9116 recommends an expiry within a year. */
const SECURITY_TXT_DAYS = 180

/** Moves the expiry once a day, so that the file stays the same for a day. */
function expiryOf(now: Date): string {
  const end = addMs(now, days(SECURITY_TXT_DAYS))
  return `${end.toISOString().slice(0, 10)}T00:00:00.000Z`
}

const securityTxt = (contact: string, url: string): string =>
  [
    `Contact: ${contact}`,
    `Expires: ${expiryOf(clock.real())}`,
    'Preferred-Languages: en, de',
    `Canonical: ${url}/.well-known/security.txt`,
    '',
  ].join('\n')

const catalogOf = (url: string) => ({
  linkset: [
    {
      anchor: `${url}/.well-known/api-catalog`,
      item: [{ href: `${url}/` }],
    },
    {
      anchor: `${url}/`,
      'service-desc': [{ href: `${url}/openapi.json`, type: 'application/json' }],
      'service-doc': [{ href: `${url}/docs`, type: 'text/html' }],
      'service-meta': [{ href: `${url}/.well-known/agent-payments`, type: 'application/json' }],
      status: [{ href: `${url}/health`, type: 'application/json' }],
    },
  ],
})

type PublishedSettings = Pick<OperationSettings, 'securityContact' | 'liveRails' | 'dataCountries'>

const serviceOf = (url: string, { securityContact, liveRails, dataCountries }: PublishedSettings) => ({
  name: 'Agent Payments',
  version: SERVICE_VERSION,
  url,
  documentation: `${url}/docs`,
  openapi: `${url}/openapi.json`,
  currencies: ['EUR'],
  environments: ['sandbox' as const, 'live' as const],
  payments: [
    { method: 'wallet', description: 'Between wallets of this service, completed at once.' },
    { method: 'sepa', description: 'Credit transfers within the SEPA area.' },
    { method: 'card', description: 'Cards of agents, within the limits of their owner.' },
    { method: 'mpp', description: 'Payments for an HTTP 402, as the payer and as the payee.' },
  ],
  machinePayments: { scheme: 'Payment', methods: ['card', 'stripe'], intents: ['charge'] },
  live: liveRails,
  dataCountries,
  authorization: `${url}/.well-known/oauth-authorization-server`,
  publicKeys: `${url}/.well-known/jwks.json`,
  verify: `${url}/.well-known/verify`,
  status: `${url}/health`,
  securityContact,
})

const wellKnown = bindHandlers(wellKnownApi, {
  verify,

  service: (_, { settings, service }) => serviceOf(service.publicUrl(), settings),

  catalog(_, { service }) {
    const url = service.publicUrl()
    return withHeaders(
      { type: LINKSET_MEDIA_TYPE, content: JSON.stringify(catalogOf(url)) },
      { Link: `<${url}/.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"` },
    )
  },

  securityTxt(_, { settings, service, refuse }) {
    const contact = settings.securityContact
    if (!contact) return refuse('no_security_contact')
    return { type: 'text/plain; charset=utf-8', content: securityTxt(contact, service.publicUrl()) }
  },
})

export const wellKnownArea = area(
  'Well-Known',
  'Discovery for programs that only know the host, and verification of signed statements.',
  wellKnown,
)
