import { once } from 'node:events'
import { mkdirSync, realpathSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '../app/service.ts'
import { temporalAccess } from '../app/temporal-access.ts'
import { claimDataDirectory } from '../dev/data-directory.ts'
import { instancePublisher, removeInstance } from '../dev/instance-file.ts'
import { startPostgres } from '../dev/postgres/embedded-postgres.ts'
import { killSelfAfter } from '../dev/processes/deadline.ts'
import { type LocalSecrets, openLocalSecrets, saveLocalSecrets } from '../dev/secrets.ts'
import { rememberedStart, temporalPaths } from '../dev/temporal/data.ts'
import {
  startTemporalIfInstalled,
  startTemporalOnceInstalled,
  type TemporalConnectionInfo,
  type TemporalOptions,
} from '../dev/temporal/start.ts'
import { printLinkOnEnter, printWelcome, waitingText } from '../dev/welcome.ts'
import { waitForDatabase } from '../platform/database.ts'
import { type ProcessLifetime, runProcess } from '../platform/lifetime.ts'
import { printError, printLine, printProgress } from '../platform/output.ts'
import { hasOlderRuns } from '../platform/schema.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'
import type { Settings } from '../platform/settings/settings.ts'

/** A person tries things out here. `localhost`, because passkeys cannot exist for an IP address. */
const USUAL = { HOST: 'localhost', RATE_LIMIT_PER_MINUTE: '1000', LOG_FORMAT: 'text' }

/** Runs the whole service in one process, with an embedded PostgreSQL unless one is configured. */
async function start(life: ProcessLifetime): Promise<void> {
  life.ending.addEventListener('abort', () => killSelfAfter(END_SECONDS))
  const settings = readEnvironmentSettings(USUAL)
  mkdirSync(settings.dataDir, { recursive: true })
  const dataDir = realpathSync(settings.dataDir)
  const claimed = await claimDataDirectory(dataDir)
  removeInstance(dataDir)

  const secrets = openLocalSecrets(dataDir)
  const wish = { settings, dataDir, life }
  const temporal = startTemporalIfInstalled(wish)
  const [databaseUrl, { openService, startParts, seedSandbox, signInOf, newConsoleLink }] = await Promise.all(
    [settings.databaseUrl ?? ownPostgres(dataDir, life), loadService()],
  )

  printProgress('Preparing the database')
  const waiting = { tell: printProgress, signal: life.ending }
  if (await waitForDatabase(databaseUrl, waiting, () => hasOlderRuns(databaseUrl)))
    await endRuns(wish, temporal)
  const own = { ...secretsFor(settings, secrets), databaseUrl }
  const service = await openService({ settings: { ...settings, ...own }, waiting, readsInThread: true })
  life.closeLater(() => service.stop())
  startParts(service, life)
  life.ending.throwIfAborted()
  const sandbox = await seedSandbox(secrets.sandbox, service.runtime)
  if (sandbox !== secrets.sandbox) saveLocalSecrets(dataDir, { ...secrets, sandbox })

  const url = await listen(service, settings)
  const { dashboardSecret } = own
  const signIn = await signInOf(sandbox, service.runtime)
  const pages = { docs: `${url}/docs`, signIn: signIn?.url ?? null }
  const instance = { url, ...pages, ...sandbox, dashboardSecret, databaseUrl, ...NO_TEMPORAL }
  const publish = instancePublisher(dataDir, life)
  const soon = await Promise.race([temporal, sleep(SOON_MS, null, { ref: false })])
  publish({ ...instance, ...soon })
  claimed.servedAt(url)
  printWelcome({ ...instance, ...soon }, signIn)
  if (signIn) printLinkOnEnter(() => newConsoleLink(sandbox, service.runtime))
  void makeDocs(service, life)
  if (soon) return work(service, soon, life)
  void temporal
    .then(found => found ?? startTemporalOnceInstalled(wish))
    .then(late => {
      publish({ ...instance, ...late })
      printLine(`Temporal is ready. Web UI ${late.webUi}\n${waitingText({ ...late, docs: pages.docs })}`)
      return work(service, late, life)
    })
}

/**
 * Ends the workflow runs of the previous version, whose data this start uses. A new installation of Temporal
 * has none.
 */
async function endRuns(wish: TemporalOptions, atOnce: Promise<TemporalConnectionInfo | null>): Promise<void> {
  const { settings, dataDir } = wish
  const mayHaveRuns = settings.temporalAddress || rememberedStart(temporalPaths(dataDir))
  const temporal = (await atOnce) ?? (mayHaveRuns ? await startTemporalOnceInstalled(wish) : null)
  if (!temporal) return
  const { endPreviousRuns } = await import('../app/previous-runs.ts')
  await endPreviousRuns(temporalAccess(settings, temporal.temporalAddress), printLine)
}

const secretsFor = (settings: Settings, kept: LocalSecrets) => ({
  dashboardSecret: settings.dashboardSecret ?? kept.dashboardSecret,
  cursorSigningKey: settings.cursorSigningKey ?? kept.secretKey,
  encryptionKey: settings.encryptionKey ?? kept.encryptionKey,
})

/** Loads the service, about a thousand files, while PostgreSQL and Temporal start. */
async function loadService() {
  const [{ openService }, { consoleSignInLink: signInOf, ...seeding }, parts, { startSepaInbox }] =
    await Promise.all([
      import('../app/service.ts'),
      import('../dev/seed.ts'),
      import('../app/background.ts'),
      import('../app/sepa-inbox.ts'),
    ])
  const {
    startDeadlineSweep: startDeadlines,
    startWebhookDeliveries: startDeliveries,
    startWebPush: startPushes,
    startChannelMessages: startMessages,
    startAuditSealing: startSealing,
    startSpendCounting: startSpend,
  } = parts
  const starts = [
    startDeadlines,
    startDeliveries,
    startPushes,
    startMessages,
    startSealing,
    startSepaInbox,
    startSpend,
  ]
  const startParts = ({ runtime }: Service, life: ProcessLifetime): void => {
    for (const start of starts) {
      const part = start(runtime)
      life.closeLater(() => part.stop())
    }
  }
  return { openService, ...seeding, signInOf, startParts }
}

const DOCS_AFTER_MS = 1_000

/**
 * Renders the documentation in advance, since that takes seconds. A failure is logged, and the first visit
 * tries again.
 */
async function makeDocs({ runtime: { ports, log } }: Service, { ending }: ProcessLifetime): Promise<void> {
  try {
    await sleep(DOCS_AFTER_MS, null, { ref: false, signal: ending })
    // Without this, Node writes thousands of files when the process stops, which takes long on a busy
    // machine.
    flushCompileCache()
    log.debug('the documentation is being made')
    await ports.service.docs('/docs')
  } catch (error) {
    if (!ending.aborted) log.debug({ err: error }, 'the documentation could not be made yet')
  }
}

/** The deadline for an orderly end. Afterwards `live` ends the process. */
const END_SECONDS = 9

const SOON_MS = 3_000

const NO_TEMPORAL = { webUi: null, temporalAddress: null, temporalNamespace: null, temporalCli: null }

/** Starts relay and worker once Temporal answers. Loads the SDK of Temporal only then. */
async function work(
  { runtime }: Service,
  { temporalAddress, webUi }: TemporalConnectionInfo,
  life: ProcessLifetime,
): Promise<void> {
  if (life.ending.aborted) return
  runtime.showRunsAt(webUi)
  const loading = Promise.all([import('../app/relay-service.ts'), import('../app/worker-service.ts')])
  // On a busy machine, loading may take longer than the process has for its end.
  const loaded = await Promise.race([loading, once(life.ending, 'abort').then(() => null)])
  if (loaded === null) return
  const [{ startOutboxRelay: startRelay }, { startTemporalWorker: startWork }] = loaded
  const access = temporalAccess(runtime.settings, temporalAddress)
  for (const part of [startRelay(runtime, access), startWork(runtime, access)])
    life.closeLater(() => part.stop())
  flushCompileCache()
}

async function ownPostgres(dataDir: string, life: ProcessLifetime): Promise<string> {
  printProgress('Starting PostgreSQL')
  const postgres = await startPostgres({ dataDir })
  life.closeLater(() => postgres.stop())
  postgres.ended.catch(error => {
    printError(error.message)
    life.end(1)
  })
  life.ending.throwIfAborted()
  return postgres.url
}

/** A port that was not named may be another one: two installations run beside each other. */
async function listen(service: Service, { port, host }: Settings): Promise<string> {
  for (let next = port; ; next += port === 0 ? 0 : 1) {
    try {
      return `http://${reachable(host)}:${await service.listen(next, host)}`
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || next === 65_535) throw error
      if (process.env.PORT?.trim())
        throw new Error(
          `Port ${port} of PORT is taken. Name another one, or leave PORT out to get the next free one.`,
        )
      printLine(`Port ${next} is taken, trying ${next + 1}`)
    }
  }
}

/** Writes the host as a URL needs it. An unspecified address is reached through the loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

runProcess(start)
