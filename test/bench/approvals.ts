import { hash } from 'node:crypto'
import { verifyApproval } from '../../src/derive/client.ts'
import { checkAssertion } from '../../src/identity/passkeys/webauthn.ts'
import { printLine } from '../../src/platform/output.ts'
import type { PublicKeySet } from '../../src/ports/signer.ts'
import { type Case, measure, type Result } from './case.ts'
import { addPerson, approvalCases, type Person } from './cases/approval-cases.ts'
import { ratio, type Section, tableLine, wholeNumber } from './report.ts'
import { usualOrShort } from './short.ts'
import { bearer, type Stage, withClient } from './stage.ts'
import { measureWaitingAgents, secondYesText } from './waiting-agents.ts'

const CONNECTIONS = usualOrShort(32, 8)
const SECONDS = usualOrShort(3, 0.5)
/** Both of a pair are measured in turn, and the better round of each counts, as other load varies. */
const ROUNDS = usualOrShort(3, 1)
const VERIFICATIONS = usualOrShort(5_000, 200)

export async function measureApprovals(stage: Stage): Promise<Section> {
  const person = await addPerson(stage)
  const pairs: (readonly [Result, Result])[] = []
  const lines: string[] = []
  for (const [one, other] of await approvalCases(stage, person)) {
    const pair = await better(stage, one, other)
    pairs.push(pair)
    lines.push(...linesOf(one, other, pair))
  }
  const alone = await measureVerification(stage, person)
  const second = await measureWaitingAgents(stage, person, CONNECTIONS)
  const text = [
    ...lines,
    ...second.map(times => tableLine(['from the second yes to the agent that waits', secondYesText(times)])),
    tableLine(['a signature checked alone', `${alone.signatureMicroseconds.toFixed(0)} µs`]),
    tableLine(['a proof checked alone', `${alone.proofMicroseconds.toFixed(0)} µs`]),
  ].join('\n')
  return { figures: { approvals: { pairs, second, alone } }, text: `${CONNECTIONS} connections\n\n${text}` }
}

async function better(stage: Stage, one: Case, other: Case): Promise<readonly [Result, Result]> {
  const rounds: (readonly [Result, Result])[] = []
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push([
      await measure(stage, one, CONNECTIONS, SECONDS),
      await measure(stage, other, CONNECTIONS, SECONDS),
    ])
    const [first, second] = rounds.at(-1) ?? []
    printLine(
      `  ${one.name} ${wholeNumber(first?.perSecond ?? 0)}, ${other.name} ${wholeNumber(second?.perSecond ?? 0)}`,
    )
  }
  const best = (place: 0 | 1): Result =>
    rounds.map(round => round[place]).reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
  return [best(0), best(1)]
}

const linesOf = (one: Case, other: Case, [first, second]: readonly [Result, Result]): string[] => [
  tableLine([one.title, cellOf(first)]),
  tableLine([other.title, cellOf(second)]),
  tableLine([`${one.name} / ${other.name}`, ratio(first.perSecond, second.perSecond)]),
]

const cellOf = ({ perSecond, p50, p99, cpuMicroseconds, databaseMicroseconds }: Result): string =>
  `${wholeNumber(perSecond)}/s ${p50.toFixed(1)}/${p99.toFixed(1)} ${wholeNumber(cpuMicroseconds)}+${wholeNumber(databaseMicroseconds)}µs`

const PASSKEY = `select credential_id as "credentialId", public_key as "publicKey", person_id as "personId"
  from passkeys where owner_id = $1 limit 1`
const APPROVED = `select a.intent_id as id from approvals a where a.owner_id = $1 limit 1`

/** The time to check one passkey signature and one proof, in this process only. */
async function measureVerification(stage: Stage, { device }: Person) {
  const [passkey, approved] = await withClient(stage, async client => [
    (await client.query(PASSKEY, [stage.ownerId])).rows[0],
    (await client.query(APPROVED, [stage.ownerId])).rows[0],
  ])
  const origin = stage.api.url.replace('127.0.0.1', 'localhost')
  const party = { id: 'localhost', name: 'Bench', origin, origins: [origin] as const, unavailable: null }
  const challenge = hash('sha256', 'bench', 'base64url')
  const envelope = { challengeId: 'challenge_bench', assertion: device.assert({ challenge, rpId: party.id }) }
  const read = async <T>(path: string): Promise<T> =>
    (await (await fetch(stage.api.url + path, { headers: bearer(stage) })).json()) as T
  const proof = await read<Parameters<typeof verifyApproval>[0]>(`/intents/${approved.id}/approval`)
  const keys = await read<PublicKeySet>('/.well-known/jwks.json')
  return {
    signatureMicroseconds: await microsecondsOf(async () => {
      const { is } = await checkAssertion(envelope, passkey, party)
      if (is !== 'genuine') throw new Error(`the signature is ${is}`)
    }),
    proofMicroseconds: await microsecondsOf(async () => void verifyApproval(proof, keys)),
  }
}

async function microsecondsOf(work: () => Promise<void>): Promise<number> {
  for (let n = 0; n < VERIFICATIONS / 10; n++) await work()
  const began = performance.now()
  for (let n = 0; n < VERIFICATIONS; n++) await work()
  return ((performance.now() - began) * 1_000) / VERIFICATIONS
}
