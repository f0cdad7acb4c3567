import { requireTemporal } from '../app/temporal-access.ts'
import { untilCurrent, workerBuild } from '../app/worker-build.ts'
import { runProcess } from '../platform/lifetime.ts'
import { printLine } from '../platform/output.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'
import { InvalidSettingError } from '../platform/settings/settings.ts'
import { connectTemporal } from '../platform/temporal/connect.ts'

const PATIENCE_MS = 300_000

/**
 * Makes the build of these programs the current one, once its workers run: new runs begin with it, and open runs that live
 * long go on with it. Run that of an older image to go back.
 */
runProcess(async life => {
  const settings = readEnvironmentSettings()
  const { client } = requireTemporal(settings)
  const build = await workerBuild(settings)
  if (!build) throw new InvalidSettingError('Not set: TEMPORAL_DEPLOYMENT.')
  const connection = await connectTemporal(client)
  life.closeLater(() => connection.close())
  const signal = AbortSignal.any([life.ending, AbortSignal.timeout(PATIENCE_MS)])
  const whyNot = await untilCurrent(connection, build, { signal })
  if (whyNot !== undefined) throw new Error(whyNot)
  printLine(`The build ${build.buildId} is current.`)
  life.end(0)
})
