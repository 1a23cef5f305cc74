-- The rows of a store of schema 1, as the version of Priming that had this schema wrote them.

INSERT INTO namespaces (namespace)
    VALUES ('mine');
INSERT INTO namespaces (namespace)
    VALUES ('theirs');
INSERT INTO memories (namespace, number, id, key, kind, status, priority, weight, uses, last_used_at, helped, failed, confirmed, followed, overridden)
    VALUES ('mine', 1, '019de368-f600-7b87-9a54-c491775c87cb', 'office', 'episode', 'active', 0.0, 0.5, 0, NULL, 0, 0, 0, 0, 0);
INSERT INTO memories (namespace, number, id, key, kind, status, priority, weight, uses, last_used_at, helped, failed, confirmed, followed, overridden)
    VALUES ('mine', 2, '019de368-f600-74b0-ac07-417967bdc4d5', 'session:monday', 'entity', 'active', 0.0, 0.5, 0, NULL, 0, 0, 0, 0, 0);
INSERT INTO memories (namespace, number, id, key, kind, status, priority, weight, uses, last_used_at, helped, failed, confirmed, followed, overridden)
    VALUES ('mine', 3, '019de368-f600-725d-ba63-914cefa69a78', 'entity:oslo', 'entity', 'active', 0.0, 0.5, 0, NULL, 0, 0, 0, 0, 0);
INSERT INTO memories (namespace, number, id, key, kind, status, priority, weight, uses, last_used_at, helped, failed, confirmed, followed, overridden)
    VALUES ('mine', 4, '019de368-f600-77e2-a98e-029553607ba9', 'meeting', 'episode', 'forgotten', 0.0, 0.5, 0, NULL, 0, 0, 0, 0, 0);
INSERT INTO memories (namespace, number, id, key, kind, status, priority, weight, uses, last_used_at, helped, failed, confirmed, followed, overridden)
    VALUES ('theirs', 1, '019de39f-e480-7ffa-87ee-46d2b72539be', 'office', 'episode', 'active', 0.0, 0.5, 0, NULL, 0, 0, 0, 0, 0);
INSERT INTO versions (number, namespace, memory, revision, version, recorded_at, retired_at, valid_from, valid_to, content, gist, heading, session, speaker, predicates, tags, metadata, source, trust, importance, outcome, occurred_at, digest, bigrams)
    VALUES (1, 'mine', 1, 1, 1, '2026-05-01T12:00:00.000000+00:00', '2026-05-01T13:00:00.000000+00:00', NULL, NULL, 'The office is in Oslo.', 'The office is in Oslo.', NULL, 'monday', NULL, NULL, '["place"]', NULL, NULL, 'user', 0.5, NULL, NULL, '8f3d282439cc35f85c5f8c10693da30f', NULL);
INSERT INTO versions (number, namespace, memory, revision, version, recorded_at, retired_at, valid_from, valid_to, content, gist, heading, session, speaker, predicates, tags, metadata, source, trust, importance, outcome, occurred_at, digest, bigrams)
    VALUES (2, 'mine', 2, 1, 1, '2026-05-01T12:00:00.000000+00:00', NULL, NULL, NULL, 'monday', 'monday', NULL, NULL, NULL, NULL, NULL, '{"form":"session"}', 'rules', 'user', 0.5, NULL, NULL, 'eeabcdce75b3c1f83b35c679355d46f1', NULL);
INSERT INTO versions (number, namespace, memory, revision, version, recorded_at, retired_at, valid_from, valid_to, content, gist, heading, session, speaker, predicates, tags, metadata, source, trust, importance, outcome, occurred_at, digest, bigrams)
    VALUES (3, 'mine', 3, 1, 1, '2026-05-01T12:00:00.000000+00:00', NULL, NULL, NULL, 'Oslo', 'Oslo', NULL, NULL, NULL, NULL, NULL, '{"form":"name"}', 'rules', 'user', 0.5, NULL, NULL, 'e9088cf703a925c79d14c7fa747fd85c', NULL);
INSERT INTO versions (number, namespace, memory, revision, version, recorded_at, retired_at, valid_from, valid_to, content, gist, heading, session, speaker, predicates, tags, metadata, source, trust, importance, outcome, occurred_at, digest, bigrams)
    VALUES (4, 'mine', 4, 1, 1, '2026-05-01T12:00:00.000000+00:00', NULL, NULL, NULL, 'The team meets at ten.', 'The team meets at ten.', NULL, 'monday', NULL, NULL, NULL, '{"room":4}', NULL, 'user', 0.5, NULL, NULL, '0be337e287ebdf8b3d5d9f561fac2a46', NULL);
INSERT INTO versions (number, namespace, memory, revision, version, recorded_at, retired_at, valid_from, valid_to, content, gist, heading, session, speaker, predicates, tags, metadata, source, trust, importance, outcome, occurred_at, digest, bigrams)
    VALUES (5, 'mine', 1, 2, 1, '2026-05-01T13:00:00.000000+00:00', NULL, NULL, '2026-05-01T13:00:00.000000+00:00', 'The office is in Oslo.', 'The office is in Oslo.', NULL, 'monday', NULL, NULL, '["place"]', NULL, NULL, 'user', 0.5, NULL, NULL, '8f3d282439cc35f85c5f8c10693da30f', NULL);
INSERT INTO versions (number, namespace, memory, revision, version, recorded_at, retired_at, valid_from, valid_to, content, gist, heading, session, speaker, predicates, tags, metadata, source, trust, importance, outcome, occurred_at, digest, bigrams)
    VALUES (6, 'mine', 1, 3, 2, '2026-05-01T13:00:00.000000+00:00', NULL, '2026-05-01T13:00:00.000000+00:00', NULL, 'The office is in Bergen.', 'The office is in Bergen.', NULL, 'monday', NULL, NULL, '["place"]', NULL, NULL, 'user', 0.5, NULL, NULL, '420ffcd411863e26fe52b4f1646c3a78', NULL);
INSERT INTO versions (number, namespace, memory, revision, version, recorded_at, retired_at, valid_from, valid_to, content, gist, heading, session, speaker, predicates, tags, metadata, source, trust, importance, outcome, occurred_at, digest, bigrams)
    VALUES (7, 'theirs', 1, 1, 1, '2026-05-01T13:00:00.000000+00:00', NULL, NULL, NULL, 'Ours is elsewhere.', 'Ours is elsewhere.', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'user', 0.5, NULL, NULL, 'a473f9a7451a4f868b5bbbabe2a42200', NULL);
INSERT INTO generations (generation, name)
    VALUES (1, 'hashed-blake2b/8/4096-lower');
INSERT INTO vectors (namespace, memory, version, generation, vector)
    VALUES ('mine', 1, 1, 1, X'B6C307BFF30435BEF304353EB6C3073FF30435BEF30435BEF30435BEB6C307BF');
INSERT INTO vectors (namespace, memory, version, generation, vector)
    VALUES ('mine', 1, 2, 1, X'D7B3DDBED7B3DDBE3ACD13BE3ACD133ED7B3DDBED7B3DDBED7B3DDBE3ACD13BE');
INSERT INTO vectors (namespace, memory, version, generation, vector)
    VALUES ('mine', 4, 1, 1, X'77D6083EB341CD3E77D608BE150C2BBFB341CDBE77D608BE77D608BEB341CD3E');
INSERT INTO vectors (namespace, memory, version, generation, vector)
    VALUES ('theirs', 1, 1, 1, X'0000403F000080BE0000803E000080BE000080BE0000803E0000803E000080BE');
INSERT INTO links (namespace, source, target, relation, weight, given, created_at, last_activated)
    VALUES ('mine', 1, 3, 'mentions', 0.5, 0, '2026-05-01T12:00:00.000000+00:00', NULL);
INSERT INTO links (namespace, source, target, relation, weight, given, created_at, last_activated)
    VALUES ('mine', 1, 4, 'next', 0.5, 0, '2026-05-01T12:00:00.000000+00:00', NULL);
INSERT INTO links (namespace, source, target, relation, weight, given, created_at, last_activated)
    VALUES ('mine', 1, 2, 'part-of', 0.5, 0, '2026-05-01T12:00:00.000000+00:00', NULL);
INSERT INTO links (namespace, source, target, relation, weight, given, created_at, last_activated)
    VALUES ('mine', 1, 4, 'requires', 0.3, 1, '2026-05-01T12:00:00.000000+00:00', NULL);
INSERT INTO links (namespace, source, target, relation, weight, given, created_at, last_activated)
    VALUES ('mine', 4, 2, 'part-of', 0.5, 0, '2026-05-01T12:00:00.000000+00:00', NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('mine', 1, '019de368-f600-7e6a-b02f-8107f9ec6dad', 'remember', '2026-05-01T12:00:00.000000+00:00', 'user', NULL, NULL, NULL, NULL, NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('mine', 2, '019de368-f600-76c4-8b3c-1047f467dcf7', 'remember', '2026-05-01T12:00:00.000000+00:00', 'user', NULL, NULL, NULL, NULL, NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('mine', 3, '019de368-f600-76a8-b3e5-cb24b6c2f5d5', 'link', '2026-05-01T12:00:00.000000+00:00', 'user', NULL, NULL, NULL, NULL, NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('mine', 4, '019de39f-e480-7a31-9da3-03c0f3c8badd', 'set-strength', '2026-05-01T13:00:00.000000+00:00', 'user', NULL, NULL, NULL, '1 link set to 0.3', NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('mine', 5, '019de39f-e480-7dd7-8d4f-c74455774ea4', 'forget', '2026-05-01T13:00:00.000000+00:00', 'user', NULL, NULL, NULL, NULL, NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('mine', 6, '019de39f-e480-79be-9657-0fb642d18020', 'supersede', '2026-05-01T13:00:00.000000+00:00', 'user', NULL, NULL, NULL, NULL, NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('mine', 7, '019de39f-e480-73c3-afde-daea9949ec3a', 'forget', '2026-05-01T13:00:00.000000+00:00', 'user', NULL, NULL, '019de39f-e480-7483-b72d-33bb0f81bae9', NULL, NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('mine', 8, '019de39f-e480-7483-b72d-33bb0f81bae9', 'undo', '2026-05-01T13:00:00.000000+00:00', 'user', NULL, NULL, NULL, 'undid a forget', NULL);
INSERT INTO operations (namespace, number, id, kind, at, actor, source, reason, undone_by, message, erased)
    VALUES ('theirs', 1, '019de39f-e480-7e35-a6f8-e1ef1a06d705', 'remember', '2026-05-01T13:00:00.000000+00:00', 'user', NULL, NULL, NULL, NULL, NULL);
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('mine', 1, 0, '{"fields":{"memories":["id","key","kind","status","priority","weight","uses","last_used_at","helped","failed","confirmed","followed","overridden"],"versions":["id","version","recorded_at","content","gist","digest","revision","retired_at","valid_from","valid_to","heading","session","speaker","when","tags","metadata","source","trust","importance","outcome","occurred_at"],"links":["source","target","relation","weight","created_at","given","last_activated"]},"rows":[["memories",null,["019de368-f600-7b87-9a54-c491775c87cb","office","episode","active",0.0,0.5,0,null,0,0,0,0,0]],["memories",null,["019de368-f600-74b0-ac07-417967bdc4d5","session:monday","entity","active",0.0,0.5,0,null,0,0,0,0,0]],["memories",null,["019de368-f600-725d-ba63-914cefa69a78","entity:oslo","entity","active",0.0,0.5,0,null,0,0,0,0,0]],["versions",null,["019de368-f600-7b87-9a54-c491775c87cb",1,"2026-05-01T12:00:00.000000+00:00","The office is in Oslo.","The office is in Oslo.","8f3d282439cc35f85c5f8c10693da30f",1,null,null,null,null,"monday",null,{},["place"],{},null,"user",0.5,null,null]],["versions",null,["019de368-f600-74b0-ac07-417967bdc4d5",1,"2026-05-01T12:00:00.000000+00:00","monday","monday","eeabcdce75b3c1f83b35c679355d46f1",1,null,null,null,null,null,null,{},[],{"form":"session"},"rules","user",0.5,null,null]],["versions",null,["019de368-f600-725d-ba63-914cefa69a78",1,"2026-05-01T12:00:00.000000+00:00","Oslo","Oslo","e9088cf703a925c79d14c7fa747fd85c",1,null,null,null,null,null,null,{},[],{"form":"name"},"rules","user",0.5,null,null]],["links",null,["019de368-f600-7b87-9a54-c491775c87cb","019de368-f600-74b0-ac07-417967bdc4d5","part-of",0.5,"2026-05-01T12:00:00.000000+00:00",false,null]],["links",null,["019de368-f600-7b87-9a54-c491775c87cb","019de368-f600-725d-ba63-914cefa69a78","mentions",0.5,"2026-05-01T12:00:00.000000+00:00",false,null]]]}');
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('mine', 2, 0, '{"fields":{"memories":["id","key","kind","status","priority","weight","uses","last_used_at","helped","failed","confirmed","followed","overridden"],"versions":["id","version","recorded_at","content","gist","digest","revision","retired_at","valid_from","valid_to","heading","session","speaker","when","tags","metadata","source","trust","importance","outcome","occurred_at"],"links":["source","target","relation","weight","created_at","given","last_activated"]},"rows":[["memories",null,["019de368-f600-77e2-a98e-029553607ba9","meeting","episode","active",0.0,0.5,0,null,0,0,0,0,0]],["versions",null,["019de368-f600-77e2-a98e-029553607ba9",1,"2026-05-01T12:00:00.000000+00:00","The team meets at ten.","The team meets at ten.","0be337e287ebdf8b3d5d9f561fac2a46",1,null,null,null,null,"monday",null,{},[],{"room":4},null,"user",0.5,null,null]],["links",null,["019de368-f600-7b87-9a54-c491775c87cb","019de368-f600-77e2-a98e-029553607ba9","next",0.5,"2026-05-01T12:00:00.000000+00:00",false,null]],["links",null,["019de368-f600-77e2-a98e-029553607ba9","019de368-f600-74b0-ac07-417967bdc4d5","part-of",0.5,"2026-05-01T12:00:00.000000+00:00",false,null]]]}');
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('mine', 3, 0, '{"fields":{"links":["source","target","relation","weight","created_at","given","last_activated"]},"rows":[["links",null,["019de368-f600-7b87-9a54-c491775c87cb","019de368-f600-77e2-a98e-029553607ba9","requires",0.7,"2026-05-01T12:00:00.000000+00:00",true,null]]]}');
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('mine', 4, 0, '{"fields":{"links":["source","target","relation","weight","created_at","given","last_activated"]},"rows":[["links",["019de368-f600-7b87-9a54-c491775c87cb","019de368-f600-77e2-a98e-029553607ba9","requires",0.7,"2026-05-01T12:00:00.000000+00:00",true,null],["019de368-f600-7b87-9a54-c491775c87cb","019de368-f600-77e2-a98e-029553607ba9","requires",0.3,"2026-05-01T12:00:00.000000+00:00",true,null]]]}');
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('mine', 5, 0, '{"fields":{"memories":["id","key","kind","status","priority","weight","uses","last_used_at","helped","failed","confirmed","followed","overridden"]},"rows":[["memories",["019de368-f600-77e2-a98e-029553607ba9","meeting","episode","active",0.0,0.5,0,null,0,0,0,0,0],["019de368-f600-77e2-a98e-029553607ba9","meeting","episode","forgotten",0.0,0.5,0,null,0,0,0,0,0]]]}');
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('mine', 6, 0, '{"fields":{"versions":["id","version","recorded_at","content","gist","digest","revision","retired_at","valid_from","valid_to","heading","session","speaker","when","tags","metadata","source","trust","importance","outcome","occurred_at"]},"rows":[["versions",["019de368-f600-7b87-9a54-c491775c87cb",1,"2026-05-01T12:00:00.000000+00:00","The office is in Oslo.","The office is in Oslo.","8f3d282439cc35f85c5f8c10693da30f",1,null,null,null,null,"monday",null,{},["place"],{},null,"user",0.5,null,null],["019de368-f600-7b87-9a54-c491775c87cb",1,"2026-05-01T12:00:00.000000+00:00","The office is in Oslo.","The office is in Oslo.","8f3d282439cc35f85c5f8c10693da30f",1,"2026-05-01T13:00:00.000000+00:00",null,null,null,"monday",null,{},["place"],{},null,"user",0.5,null,null]],["versions",null,["019de368-f600-7b87-9a54-c491775c87cb",1,"2026-05-01T13:00:00.000000+00:00","The office is in Oslo.","The office is in Oslo.","8f3d282439cc35f85c5f8c10693da30f",2,null,null,"2026-05-01T13:00:00.000000+00:00",null,"monday",null,{},["place"],{},null,"user",0.5,null,null]],["versions",null,["019de368-f600-7b87-9a54-c491775c87cb",2,"2026-05-01T13:00:00.000000+00:00","The office is in Bergen.","The office is in Bergen.","420ffcd411863e26fe52b4f1646c3a78",3,null,"2026-05-01T13:00:00.000000+00:00",null,null,"monday",null,{},["place"],{},null,"user",0.5,null,null]]]}');
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('mine', 7, 0, '{"fields":{"memories":["id","key","kind","status","priority","weight","uses","last_used_at","helped","failed","confirmed","followed","overridden"]},"rows":[["memories",["019de368-f600-7b87-9a54-c491775c87cb","office","episode","active",0.0,0.5,0,null,0,0,0,0,0],["019de368-f600-7b87-9a54-c491775c87cb","office","episode","forgotten",0.0,0.5,0,null,0,0,0,0,0]]]}');
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('mine', 8, 0, '{"fields":{"memories":["id","key","kind","status","priority","weight","uses","last_used_at","helped","failed","confirmed","followed","overridden"]},"rows":[["memories",["019de368-f600-7b87-9a54-c491775c87cb","office","episode","forgotten",0.0,0.5,0,null,0,0,0,0,0],["019de368-f600-7b87-9a54-c491775c87cb","office","episode","active",0.0,0.5,0,null,0,0,0,0,0]]]}');
INSERT INTO changes (namespace, operation, piece, rows)
    VALUES ('theirs', 1, 0, '{"fields":{"memories":["id","key","kind","status","priority","weight","uses","last_used_at","helped","failed","confirmed","followed","overridden"],"versions":["id","version","recorded_at","content","gist","digest","revision","retired_at","valid_from","valid_to","heading","session","speaker","when","tags","metadata","source","trust","importance","outcome","occurred_at"]},"rows":[["memories",null,["019de39f-e480-7ffa-87ee-46d2b72539be","office","episode","active",0.0,0.5,0,null,0,0,0,0,0]],["versions",null,["019de39f-e480-7ffa-87ee-46d2b72539be",1,"2026-05-01T13:00:00.000000+00:00","Ours is elsewhere.","Ours is elsewhere.","a473f9a7451a4f868b5bbbabe2a42200",1,null,null,null,null,null,null,{},[],{},null,"user",0.5,null,null]]]}');
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-725d-ba63-914cefa69a78', 1);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-74b0-ac07-417967bdc4d5', 1);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-74b0-ac07-417967bdc4d5', 2);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-77e2-a98e-029553607ba9', 2);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-77e2-a98e-029553607ba9', 3);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-77e2-a98e-029553607ba9', 4);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-77e2-a98e-029553607ba9', 5);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-7b87-9a54-c491775c87cb', 1);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-7b87-9a54-c491775c87cb', 2);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-7b87-9a54-c491775c87cb', 3);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-7b87-9a54-c491775c87cb', 4);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-7b87-9a54-c491775c87cb', 6);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-7b87-9a54-c491775c87cb', 7);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('mine', '019de368-f600-7b87-9a54-c491775c87cb', 8);
INSERT INTO touched (namespace, memory, operation)
    VALUES ('theirs', '019de39f-e480-7ffa-87ee-46d2b72539be', 1);
INSERT INTO traces (namespace, number, recall_id, at, session, profile, cue, hits)
    VALUES ('mine', 1, '019de39f-e480-7cf0-ba7a-e971d0dfa5a2', '2026-05-01T13:00:00.000000+00:00', 'tuesday', 'priming', '{"text": "where is the office"}', '[["019de368-f600-7b87-9a54-c491775c87cb", -0.195031581389]]');
