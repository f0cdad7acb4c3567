export { fillerKeysApi } from './api.ts'
export {
  type NamedRecipient,
  namesOneKey,
  oneKeyRequired,
  recipientMembers,
  recipientOf,
  recipientRefusals,
} from './recipient.ts'
