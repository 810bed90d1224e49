// One conversation with a broker through kafkajs. Arguments: bootstrap, topic. Prints what it saw as JSON.
//
// kafkajs has no public way to read a partition without a consumer group, so reading goes through the
// broker object that its consumer uses itself.
'use strict'

const { CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = require('kafkajs')
const Cluster = require('kafkajs/src/cluster')
const createSocketFactory = require('kafkajs/src/network/socketFactory')
const consoleLogCreator = require('kafkajs/src/loggers/console')
const { createLogger, LEVELS } = require('kafkajs/src/loggers')

// A partition that was just made may have a leader who has not heard of it yet; this client does not ask twice.
async function patiently (ask) {
  for (let tries = 0; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!error.retriable || tries >= 50) throw error
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}

const [bootstrap, topic] = process.argv.slice(2)
const kafka = new Kafka({ brokers: bootstrap.split(','), clientId: 'scenario', logLevel: logLevel.NOTHING, retry: { retries: 3 } })

async function produce (seen) {
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  seen.plain = await producer.send({
    topic,
    messages: [
      { key: 'k', value: 'plain', headers: { h: 'one', list: ['a', 'b'] }, timestamp: '10000', partition: 0 },
      { key: null, value: null, timestamp: '10100', partition: 0 },
      { key: '', value: '', timestamp: '10200', partition: 0 }
    ]
  })
  seen.gzip = await producer.send({
    topic,
    compression: CompressionTypes.GZIP,
    messages: Array.from({ length: 50 }, (_, index) => ({ value: `gzip ${index}`, timestamp: '20000', partition: 0 }))
  })
  seen.leaderOnly = await producer.send({ topic, acks: 1, messages: [{ value: 'leader only', partition: 0 }] })
  await producer.send({ topic, acks: 0, messages: [{ value: 'no answer', partition: 0 }] })
  await producer.disconnect()
}

async function produceIdempotently (seen) {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  seen.idempotent = []
  for (let index = 0; index < 5; index++) {
    const [sent] = await producer.send({ topic, messages: [{ value: `once ${index}`, partition: 1 }] })
    seen.idempotent.push(sent.baseOffset)
  }
  await producer.disconnect()
}

async function administer (seen) {
  const admin = kafka.admin()
  await admin.connect()
  seen.cluster = await admin.describeCluster()
  seen.topics = await admin.listTopics()
  seen.metadata = await admin.fetchTopicMetadata({ topics: [topic] })
  seen.offsets = await admin.fetchTopicOffsets(topic)
  seen.byTime = await admin.fetchTopicOffsetsByTimestamp(topic, 10050)
  await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] })
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic, configNames: ['retention.ms'] }
  seen.configs = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] })
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name: 'retention.ms', value: '-1' }] }]
  })
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 1, offset: '3' }] })
  seen.offsetsAfterDeletion = await patiently(() => admin.fetchTopicOffsets(topic))
  await admin.disconnect()
}

async function readPartition (seen) {
  const logger = createLogger({ level: LEVELS.NOTHING, logCreator: consoleLogCreator })
  const cluster = new Cluster({
    logger,
    brokers: bootstrap.split(','),
    clientId: 'scenario',
    socketFactory: createSocketFactory(),
    connectionTimeout: 5000,
    requestTimeout: 10000,
    enforceRequestTimeout: true,
    maxInFlightRequests: null,
    offsets: new Map(),
    retry: { retries: 3 }
  })
  await cluster.connect()
  await cluster.addTargetTopic(topic)
  await cluster.refreshMetadata()
  const [metadata] = cluster.findTopicPartitionMetadata(topic)
  const broker = await cluster.findBroker({ nodeId: String(metadata.leader) })
  seen.read = []
  let offset = 0
  while (offset < 55) {
    const answer = await broker.fetch({
      maxWaitTime: 1000,
      minBytes: 1,
      maxBytes: 1000000,
      isolationLevel: 1,
      rackId: '',
      topics: [{ topic, partitions: [{ partition: 0, currentLeaderEpoch: -1, fetchOffset: String(offset), maxBytes: 1000000 }] }]
    })
    const messages = answer.responses[0].partitions[0].messages
    if (messages.length === 0) break
    for (const message of messages) {
      seen.read.push({
        offset: Number(message.offset),
        timestamp: message.timestamp,
        key: message.key === null ? null : message.key.toString(),
        value: message.value === null ? null : message.value.toString(),
        headers: Object.fromEntries(Object.entries(message.headers).map(([key, value]) => [key, String(value)]))
      })
    }
    offset = Number(messages[messages.length - 1].offset) + 1
  }
  await cluster.disconnect()
}

async function main () {
  const seen = {}
  await produce(seen)
  await produceIdempotently(seen)
  await administer(seen)
  await readPartition(seen)
  console.log(JSON.stringify(seen))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
