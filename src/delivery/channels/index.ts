export { channelSettingsApi, channelsApi } from './api.ts'
export { MESSAGES_DUE_SQL } from './message-rows.ts'
export { ChannelSender } from './sender.ts'
