import { dirname, join } from 'node:path'
import { isRecord } from '../../values/members.ts'
import type { CommandContext, CustomCommand } from '../context.ts'
import { exitCodes, usageError } from '../io.ts'

const KEYS = 'jwks.json'

export const verifyApprovalCommand: CustomCommand = {
  name: 'verify',
  summary: 'Verify the proof of an approval offline',
  description:
    'The proof of an approval by passkey has two signatures: that of the person’s device and that of the installation. If several people had to approve, it has one signature of each. It is verified offline with your copy of the installation’s keys.',
  arguments: { '<file>': 'The output of `agentpay intents approval <id>`; `-` is standard input.' },
  options: {
    keys: {
      type: 'string',
      value: '<file>',
      description: `Your copy of the installation’s keys. Default: ${KEYS} beside the proof.`,
    },
  },
  examples: [
    'agentpay intents approval intent_01jd8x2m4ye7k9v0c3q5r6t8wz -o approval.json',
    'agentpay signing-keys jwks -o jwks.json',
    'agentpay verify approval.json',
  ],
  async run(context) {
    const { verifyApproval } = await import('../../derive/verify-approval.ts')
    const { SignatureRejected } = await import('../../derive/verify-signed.ts')
    const [proof, keys] = await filesOf(context)
    try {
      const proven = verifyApproval(proof, keys)
      context.print(context.asJson ? proven : withPeopleInRows(proven))
      return exitCodes.done
    } catch (error) {
      if (!(error instanceof SignatureRejected)) throw error
      return context.fail(exitCodes.refused, `The proof is not valid. ${error.message}`)
    }
  },
}

type Verify = typeof import('../../derive/verify-approval.ts').verifyApproval

/** A table omits nested members, and the person is one. */
const withPeopleInRows = ({ approvals, ...proven }: ReturnType<Verify>) => ({
  ...proven,
  approvals: approvals.map(({ person, approvedAt }) => ({ ...person, approvedAt })),
})

async function filesOf(context: CommandContext): Promise<Parameters<Verify>> {
  const [name = '-'] = context.arguments
  const { keys } = context.options
  const beside = join(name === '-' ? '.' : dirname(name), KEYS)
  const proof = await readJson(name, context)
  const set = await readJson(typeof keys === 'string' ? keys : beside, context, keysHint)
  if (!isProof(proof)) throw usageError(`${name} is not a proof: it has no jws and openings.`)
  if (!isKeySet(set)) throw usageError(`The file of keys is not a JSON Web Key Set. Save it: ${keysHint}`)
  return [proof, set]
}

const keysHint = `agentpay signing-keys jwks -o ${KEYS}`

const isProof = (value: unknown): value is Parameters<Verify>[0] =>
  isRecord(value) && typeof value.jws === 'string' && isRecord(value.openings)

const isKeySet = (value: unknown): value is Parameters<Verify>[1] =>
  isRecord(value) && Array.isArray(value.keys)

async function readJson(name: string, { io }: CommandContext, remedy = ''): Promise<unknown> {
  const { readInput, readNamedFile } = await import('../arguments/files.ts')
  const bytes = await (name === '-' ? readInput(io) : readNamedFile(name, io)).catch(error => {
    throw remedy === '' ? error : usageError(`${(error as Error).message}. Save the keys first: ${remedy}`)
  })
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw usageError(`${name} is not JSON.`)
  }
}
