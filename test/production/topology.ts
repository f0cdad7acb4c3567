import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { runProcess } from '../../src/platform/lifetime.ts'
import { printLine } from '../../src/platform/output.ts'
import { lastLogLines } from './children.ts'
import { makeSecrets, readCompose, readVariables } from './compose.ts'
import { secretOf } from './databases.ts'
import { devServer } from './dev-server.ts'
import { driveFlow } from './flow.ts'
import { buildImage } from './image.ts'
import { closeAll, discardFolder, ownFolder } from './own-folder.ts'
import { programs, withDevServer } from './programs.ts'
import { checkSbom } from './sbom.ts'
import { startServices } from './services.ts'
import type { Parts } from './start.ts'
import { temporalPrograms } from './temporal-programs.ts'

/** The time limit from the first service to the last check. */
const LIMIT_MS = 300_000

const PREFIX = 'agentpay-topology-'

const TEMPORAL_NAMESPACE = 'agentpay'

/** The example's variables, with few shards for a short run and a rate limit for many requests from one address. */
const variables = {
  ...readVariables(readFileSync('.env.production.example', 'utf8')),
  TEMPORAL_NAMESPACE,
  TEMPORAL_HISTORY_SHARDS: '4',
  RATE_LIMIT_PER_MINUTE: '1000000',
}

/** The short form uses the development server instead of building the production Temporal server. */
const isShort = process.argv.includes('--short')

/** Runs what `docker-compose.yml` and the Dockerfile describe, without Docker, and drives intents through it. */
runProcess(async life => {
  const temporal = isShort ? await devServer() : await temporalPrograms(printLine)
  const folder = await ownFolder(PREFIX)
  const closers: (() => unknown)[] = []
  life.closeLater(() => closeAll(closers))
  printLine('The image')
  const began = performance.now()
  const image = await buildImage(folder, printLine)
  printLine(`  built in ${((performance.now() - began) / 1000).toFixed(0)} s`)
  printLine(`  its SBOM lists the ${checkSbom(image)} packages that it holds`)
  try {
    await runWithLimit({
      image,
      temporal,
      programs: isShort ? withDevServer : programs,
      folder,
      tell: printLine,
      closeLater: closer => closers.push(closer),
    })
  } catch (error) {
    printLine(`What each service has said is in ${folder}.`)
    throw error
  }
  printLine(`All agree, after ${((performance.now() - began) / 1000).toFixed(0)} s.`)
  await closeAll(closers)
  await discardFolder(folder)
  life.end(0)
})

async function runWithLimit(parts: Omit<Parts, 'onEnd'>): Promise<void> {
  const broken = Promise.withResolvers<never>()
  let mayEnd = 0
  const onEnd = (name: string) => {
    if (mayEnd-- <= 0) broken.reject(new Error(`${name} has ended:\n${lastLogLines(parts.folder, name)}`))
  }
  const tooLong = sleep(LIMIT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`It is not done after ${LIMIT_MS / 1000} s.`)
  })
  const all = startAndDrive({ ...parts, onEnd }, () => {
    mayEnd = 1
  })
  await Promise.race([all, broken.promise, tooLong])
  // From here on services end because the topology ends them.
  mayEnd = Number.POSITIVE_INFINITY
}

async function startAndDrive(parts: Parts, onKill: () => void): Promise<void> {
  const { tell, closeLater } = parts
  tell('The services')
  const compose = readCompose({ ...variables, ...makeSecrets(parts.folder) })
  const addresses = await startServices({ ...parts, compose })
  const urlOf = (name: string) => `http://${addresses.get(`${name}:8080`)}`
  const connection = await Connection.connect({ address: addresses.get('temporal:7233') ?? '' })
  closeLater(() => connection.close())
  tell('The flow')
  await driveFlow({
    urls: [urlOf('api-1'), urlOf('api-2')],
    webUi: `${urlOf('temporal-ui')}/api/v1/namespaces/${TEMPORAL_NAMESPACE}`,
    temporal: new Client({ connection, namespace: TEMPORAL_NAMESPACE }),
    dashboardSecret: secretOf(compose, 'dashboard_secret'),
    tell,
    onKill,
  })
}
