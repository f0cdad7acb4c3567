export {
  type NamedRecipient,
  namesOneKey,
  oneKeyWanted,
  recipientMembers,
  recipientOf,
  recipientRefusals,
} from './recipient.ts'
