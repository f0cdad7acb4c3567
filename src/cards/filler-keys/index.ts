export { fillerKeysApi } from './api.ts'
export {
  type NamedRecipient,
  namesOneKey,
  oneKeyWanted,
  recipientMembers,
  recipientOf,
  recipientRefusals,
} from './recipient.ts'
