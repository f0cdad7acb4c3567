export { fillerKeysApi } from './api.ts'
export {
  type NamedRecipient,
  namesOneKey,
  oneKeyRequired as oneKeyWanted,
  recipientMembers,
  recipientOf,
  recipientRefusals,
} from './recipient.ts'
