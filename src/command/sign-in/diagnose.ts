import { existsSync } from 'node:fs'
import { clock } from '../../values/system-clock.ts'
import type { ServiceAnswer } from '../calls/caller.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure } from '../io.ts'
import { keyFileExposure, keyFilePath, readKeyFile } from '../key-file.ts'
import { bodyIfOk, serviceClientAt } from './service.ts'

export interface DiagnosticFinding {
  readonly about: string
  readonly state: 'good' | 'doubtful' | 'bad'
  readonly found: string
  readonly remedy: string | null
}

const ok = (about: string, found: string): DiagnosticFinding => ({
  about,
  state: 'good',
  found,
  remedy: null,
})
const warning = (about: string, found: string, remedy: string): DiagnosticFinding => ({
  about,
  state: 'doubtful',
  found,
  remedy,
})
const problem = (about: string, found: string, remedy: string): DiagnosticFinding => ({
  about,
  state: 'bad',
  found,
  remedy,
})

export async function diagnoseSetup(context: CommandContext): Promise<DiagnosticFinding[]> {
  const own = [
    ok('Command', `version ${context.table.version}, Node ${process.versions.node}`),
    keyFile(context),
  ]
  const connection = connectionOf(context)
  if (connection instanceof CommandFailure)
    return [...own, problem('Address', connection.message, 'agentpay login --url https://pay.example.com')]
  const { url, source } = connection
  const asked = clock.ticks()
  const health = await answerOf(() => serviceClientAt(context, url).call('health.health'))
  if (health instanceof CommandFailure)
    return [
      ...own,
      problem(
        'Address',
        health.message,
        `It comes from: ${source}. Check the address and whether the service is running.`,
      ),
    ]
  const took = Math.round(clock.ticks() - asked)
  return [
    ...own,
    ok('Address', `${url} (${source}) answers in ${took} ms`),
    clockOf(health, took),
    ...serviceOf(health, context),
    await keyOf(context, connection),
  ]
}

function connectionOf(context: CommandContext) {
  try {
    return context.connection()
  } catch (error) {
    if (error instanceof CommandFailure) return error
    throw error
  }
}

async function answerOf(ask: () => Promise<ServiceAnswer>): Promise<ServiceAnswer | CommandFailure> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof CommandFailure) return error
    throw error
  }
}

function keyFile({ io }: CommandContext): DiagnosticFinding {
  const about = 'Key file'
  const path = keyFilePath(io)
  if (!existsSync(path)) return ok(about, `none at ${path}`)
  const exposure = keyFileExposure(path)
  if (exposure) return problem(about, 'other users can read it', exposure)
  try {
    const { current, profiles } = readKeyFile(io)
    const names = Object.keys(profiles).map(name => (name === current ? `${name} (current)` : name))
    return ok(about, `${path}, which only you can read: ${names.join(', ') || 'no profiles'}`)
  } catch (error) {
    return problem(about, (error as Error).message, `Delete ${path} and sign in again: agentpay login`)
  }
}

/** Proofs of possession, challenges and signatures are valid for a minute. */
const MOST_SKEW_MS = 30_000

function clockOf({ headers }: ServiceAnswer, tookMs: number): DiagnosticFinding {
  const about = 'Clock'
  const theirs = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(theirs))
    return warning(about, 'the service does not send its time', 'Is it behind a proxy?')
  // The header has whole seconds and was written between request and answer.
  const skew = clock.milliseconds() - theirs
  const off = Math.max(0, Math.abs(skew - 500) - 500 - tookMs)
  if (off <= MOST_SKEW_MS) return ok(about, 'agrees with the service')
  const seconds = Math.round(Math.abs(skew) / 1_000)
  const way = skew > 0 ? 'ahead of' : 'behind'
  return problem(
    about,
    `${seconds} s ${way} that of the service`,
    'Synchronize this machine’s clock: timedatectl set-ntp true',
  )
}

interface Health {
  readonly version: string
  readonly checks: { readonly temporal: 'ok' | 'unreachable' | null }
}

function serviceOf(health: ServiceAnswer, { table }: CommandContext): DiagnosticFinding[] {
  const found = bodyIfOk<Health>(health)
  if (!found)
    return [
      problem(
        'Service',
        health.error ?? `status ${health.status}`,
        'Ask the operator of the service to fix this.',
      ),
    ]
  return [versionOf(found.version, table.version), temporalOf(found.checks.temporal)]
}

const majorOf = (version: string): string => version.split('.')[0] ?? ''

function versionOf(theirs: string, own: string): DiagnosticFinding {
  const about = 'Version'
  if (theirs === own) return ok(about, `${theirs}, as this command`)
  const found = `the service has ${theirs}, this command ${own}`
  const remedy = 'Operations may be missing. Use the command of the same version.'
  return majorOf(theirs) === majorOf(own) ? warning(about, found, remedy) : problem(about, found, remedy)
}

function temporalOf(temporal: Health['checks']['temporal']): DiagnosticFinding {
  const about = 'Temporal'
  if (temporal === 'ok') return ok(about, 'is reachable from the service')
  if (temporal === 'unreachable')
    return problem(
      about,
      'is not reachable from the service, so pending work does not continue',
      'The operator must start it or correct TEMPORAL_ADDRESS. Pending work then continues.',
    )
  return warning(about, 'has not been checked yet', 'Try again in a moment if the service has just started.')
}

interface OwnKey {
  readonly name: string
  readonly environment: string
  readonly hint: string
  readonly expiresAt: string | null
}

const SOON_MS = 7 * 86_400_000

async function keyOf(
  context: CommandContext,
  { url, key, keySource }: ReturnType<CommandContext['connection']>,
): Promise<DiagnosticFinding> {
  const about = 'Key'
  if (!key) return problem(about, 'none for this address', 'agentpay login, or set AGENTPAY_KEY')
  const from = keySource ?? 'AGENTPAY_KEY'
  const isToken = !key.startsWith('sk_')
  const asked = isToken ? 'intents.list' : 'keys.current'
  const answer = await answerOf(() => serviceClientAt(context, url, { key }).call(asked))
  if (answer instanceof CommandFailure) return problem(about, answer.message, 'Try again.')
  // A token without the scope for it is a valid one.
  if (isToken && (answer.status < 300 || answer.status === 403))
    return ok(about, `an agent token, from ${from}`)
  const own = bodyIfOk<OwnKey>(answer)
  if (!own) {
    const remedy = isToken
      ? 'agentpay agent-tokens create creates a new token.'
      : 'agentpay login creates a new one.'
    return problem(about, `from ${from}: ${answer.error ?? answer.status}`, remedy)
  }
  return expiryOf(own, `${own.name} (…${own.hint}, ${own.environment}), from ${from}`)
}

function expiryOf({ expiresAt }: OwnKey, found: string): DiagnosticFinding {
  const about = 'Key'
  if (expiresAt === null) return ok(about, found)
  const day = expiresAt.slice(0, 10)
  const isSoon = Date.parse(expiresAt) - clock.milliseconds() < SOON_MS
  return isSoon
    ? warning(about, `${found}, ends ${day}`, 'agentpay login replaces it.')
    : ok(about, `${found}, until ${day}`)
}
