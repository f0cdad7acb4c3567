import { mandateStatus } from '../../control/mandates/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { PublicKey, SignedClaims } from '../../ports/signer.ts'
import { CheckpointRejected, openCheckpoint } from '../../trail/index.ts'
import type { wellKnownApi } from './api.ts'
import { receiptProofIn, type ShownReceipt } from './receipt.ts'

type Asking = Pick<Context, 'sql'>

/** A kind of statement that this installation signs. */
interface Kind {
  readonly kind: 'mandate' | 'approval' | 'receipt' | 'evidence' | 'checkpoint'
  /** Why a statement with a good signature counts for nothing by now; undefined where it counts. */
  readonly problem?: (claims: SignedClaims, context: Asking) => Promise<string | undefined>
}

/** By the `typ` of the JWS. */
const KINDS: Readonly<Record<string, Kind>> = {
  mandate: { kind: 'mandate', problem: mandateProblem },
  'intent-approval': { kind: 'approval' },
  'mpp-receipt+jwt': { kind: 'receipt' },
  'payment-evidence': { kind: 'evidence' },
}

const ENDED: Readonly<Record<string, string>> = {
  suspended: 'The mandate is suspended.',
  revoked: 'The mandate was revoked.',
  expired: 'The mandate has expired.',
  exhausted: 'The mandate is used up.',
}

async function mandateProblem(
  { ownerId, mode, mandateId }: SignedClaims,
  { sql }: Asking,
): Promise<string | undefined> {
  const status = await mandateStatus(sql, { ownerId, mode }, String(mandateId))
  return status === 'active' ? undefined : (ENDED[String(status)] ?? 'The mandate is not in force.')
}

const NOT_READ =
  'This is no statement of such an installation: send the compact JWS, the header Payment-Receipt, or the note of a checkpoint as it is, line ends included.'
const NOT_OURS = 'No key of this installation has signed it: it was changed, or it comes from somewhere else.'

const rejected = (reason: string, kind: Kind['kind'] | null = null) => ({ valid: false, kind, reason })

/** Reads nothing but the statement itself, and of a mandate whether it is in force. */
export const verify: HandlerOf<typeof wellKnownApi.verify> = async ({ body }, context) => {
  if (body.statement.includes('\n')) return verifyNote(body.statement, context.ports.signer.publicKeys())
  const receipt = receiptProofIn(body.statement)
  const jws = receipt?.proof ?? body.statement
  const type = typeOf(jws)
  const found = type !== undefined && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  if (type === undefined || !found) return rejected(NOT_READ)
  const { kind } = found
  const claims = await context.ports.signer.verify(type, jws)
  if (!claims) return rejected(NOT_OURS, kind)
  if (receipt && !isProvedBy(receipt, claims))
    return rejected('The receipt says something else than its proof.', kind)
  const reason = await found.problem?.(claims, context)
  return reason === undefined ? { valid: true, kind, reason: null } : rejected(reason, kind)
}

/** A checkpoint of an audit trail is the only statement of several lines: a signed note. */
function verifyNote(note: string, keys: readonly PublicKey[]) {
  try {
    openCheckpoint(note, { keys })
    return { valid: true, kind: 'checkpoint' as const, reason: null }
  } catch (error) {
    if (error instanceof CheckpointRejected) return rejected(error.message, 'checkpoint')
    throw error
  }
}

/** The members of a receipt stand beside its proof unsigned: each must be what was signed. */
const isProvedBy = ({ members }: ShownReceipt, claims: SignedClaims): boolean =>
  Object.entries(members).every(([name, value]) => claims[name] === value)

/** The `typ` of a compact JWS; undefined where this is none. */
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
