import { startChannelService } from '../../support/delivery/channels.ts'

/** The service of all tests of channels. */
export const channels = await startChannelService()
