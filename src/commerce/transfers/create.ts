import {
  type AssertionCode,
  type Checked,
  type Envelope,
  judge,
  type LockedChallenges,
  lockChallenges,
  readAssertions,
  writeAssertions,
} from '../../identity/passkeys/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { type BatchState, loadBatch } from './batch.ts'
import type { CreateHandler } from './intent-checks.ts'
import { pay, payOwnPayee } from './pay.ts'
import { mustSign, paymentSubject, signedPayees } from './signed-payment.ts'

type CreateRequest = Parameters<CreateHandler['decide']>[0]
type Verdict = Parameters<CreateHandler['decide']>[2]

/** The records of a batch of payments, and the signatures that came with those of people. */
interface CreateState extends BatchState {
  readonly tenant: Tenant
  readonly checked: ReadonlyMap<Envelope, Checked>
  readonly locked: LockedChallenges
}

/** Judges the signature over a payment, and burns its challenge whatever comes of it; undefined where nothing is wrong. */
function signatureProblem(
  { input: { body }, actor }: CreateRequest,
  { checked, locked, wallets, sepa }: CreateState,
  verdict: Verdict,
): AssertionCode | Problem | undefined {
  const found = body.webauthnAssertion && checked.get(body.webauthnAssertion)
  if (!found) return mustSign(actor) ? 'assertion_required' : undefined
  const stopped = locked.stopped.get(found)
  if (stopped) return stopped
  const members = paymentSubject(body.fromWalletId, signedPayees(body, wallets, sepa?.payees))
  const personId = mustSign(actor) ? actor.id : null
  return judge(found, locked, { kind: 'payment', members, personId }, verdict)
}

/** Pays as a key asks for it, or as a person in the console has signed it. */
export const create: CreateHandler = {
  async load(requests, sql, ports): Promise<CreateState> {
    const { tenant } = requests[0]
    const envelopes = requests.flatMap(({ input }) => input.body.webauthnAssertion ?? [])
    const checked = await readAssertions(sql, tenant, envelopes, ports)
    const batch = await loadBatch(requests, sql, ports)
    const sent = requests.flatMap(({ input, actor, address }) => {
      const one = input.body.webauthnAssertion && checked.get(input.body.webauthnAssertion)
      return one ? { checked: one, actor, address } : []
    })
    return { ...batch, tenant, checked, locked: await lockChallenges(sql, tenant, sent) }
  },
  decide(request, state: CreateState, verdict) {
    const code = signatureProblem(request, state, verdict)
    if (code instanceof Problem) return code
    return code ? verdict.refuse(code) : payOwnPayee(request, state, verdict)
  },
  async write(state: CreateState, sql, runForOwner) {
    await Promise.all([pay.write(state, sql, runForOwner), writeAssertions(sql, state.tenant, state.locked)])
  },
}
