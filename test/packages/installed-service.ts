import { startTestService } from '../support/harness.ts'
import { aFolderWithThePackage } from '../support/packages/installed.ts'

export const [service, folder] = await Promise.all([
  startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } }),
  aFolderWithThePackage(),
])
