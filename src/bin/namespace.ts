import { requireTemporal } from '../app/temporal-access.ts'
import { runProcess } from '../platform/lifetime.ts'
import { printLine } from '../platform/output.ts'
import { readEnvironmentSettings } from '../platform/settings/environment.ts'
import { connectTemporal } from '../platform/temporal/connect.ts'
import { ensureNamespace } from '../platform/temporal/namespace.ts'

/**
 * Creates the namespace in a self-hosted Temporal cluster, with the search attributes by which operators find
 * runs. Runs before `worker` and `relay`; existing namespaces stay unchanged.
 */
runProcess(async life => {
  const { client, namespace } = requireTemporal(readEnvironmentSettings())
  const connection = await connectTemporal(client)
  life.closeLater(() => connection.close())
  await ensureNamespace(connection, namespace)
  printLine(`The namespace ${namespace} is ready.`)
  life.end(0)
})
