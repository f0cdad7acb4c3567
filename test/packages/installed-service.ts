import { startTestService } from '../support/harness.ts'
import { aFolderWithThePackage } from '../support/packages/installed.ts'

/** A service, and a folder with the package that calls it, for all parts of the file. */
export const [service, folder] = await Promise.all([
  startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } }),
  aFolderWithThePackage(),
])
