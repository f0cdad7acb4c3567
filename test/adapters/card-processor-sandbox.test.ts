import './card-processor/sandbox-cards.ts'
import './card-processor/sandbox-disclosure.ts'
import './card-processor/sandbox-messages.ts'
import './card-processor/sandbox-faults.ts'
